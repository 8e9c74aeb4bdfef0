#!/usr/bin/env python3
"""Checks the pages against the code: README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md and docs/.

check_docs.py links ROOT
    Every relative link and anchor of every .md file exists; docs/README.md names every page of docs/; lines of prose have
    at most 140 columns; headers and sources named by their paths exist, and headers named without one somewhere in the
    repository (CHANGELOG.md names those of its time); every block has a language; blocks of sh, json and python are well
    formed; a block after <!-- of: FILE --> occurs in that file, line by line (a line ... matches any lines).  The commands that
    do all the set-up on a fresh machine stand in a block of sh in README.md's first 30 lines.
check_docs.py compile ROOT FOLDER COMPILER [FLAG...]
    Every block of cpp compiles: as the body of a function, or, if it has a main() or follows <!-- cpp namespace -->, of a
    namespace; after <!-- cpp outermost --> in none.  A hidden comment <!-- cpp, end of line, lines --> before it adds lines before the block's;
    <!-- cpp everywhere, end of line, lines --> adds them before each block of the page.
    After <!-- calls in column N --> each piece of code in that column of the next table compiles as an expression or a
    statement, after <!-- types in column N --> as a type.
check_docs.py source ROOT FILE
    Writes the blocks behind <!-- run --> as a program: `docs_blocks PAGE` runs those of a page.
check_docs.py run [--update] ROOT FOLDER PROGRAM...
    docs_blocks, if among the programs, runs without an exception in a folder with the recorded runs that a page names, and
    prints the lines of the page's blocks behind <!-- printed -->, in this order (a line ... is for any lines).
    Every command of the blocks of console, "$ command", prints what stands below it: both streams; a line ... is for any lines, ...
    in a line for any text.  It ends with status 0, or with N where the command ends in "# exit status N".  Blocks of a page share a
    folder, in which runs/ has the recorded runs that the page names.  Behind <!-- needs: NAME --> a block is left out where that
    program is not given.  Options of `smdebug COMMAND` in blocks of sh and console are options of that command.
    --update writes what was printed into the pages, to be looked at.
check_docs.py --self-test FOLDER COMPILER [FLAG...]"""
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from check_docs_cases import CASES, GOOD, OTHER

KINDS = {"cpp", "c", "fortran", "console", "sh", "json", "sql", "python", "cmake", "text", "ini", "toml"}
USUAL_INCLUDES = tuple(f"#include <smdebug/{header}>" for header in (
    "s3.hpp", "smdebug.hpp",  # and the entry headers that docs/README.md names
    "actions/run_command.hpp", "actions/status_file.hpp", "exporting/csv.hpp", "exporting/npz.hpp",
    "exporting/options.hpp", "exporting/run.hpp", "exporting/safetensors.hpp", "exporting/tensorboard.hpp",
    "hook/hook_json.hpp", "hook/tensorboard_writer.hpp", "reduce/histogram.hpp", "reduce/quantiles.hpp",
    "reduce/scalar_kernel.hpp", "registry/rule_registry.hpp", "rules/finding.hpp", "storage/cached_storage.hpp",
    "trial/diff_runs.hpp", "trial/reduce_in_passing.hpp",
    "trial/step_stream.hpp", "trial/verify.hpp", "watch/watch.hpp"))
WIDTH = 140
SET_UP = ("./examples/quickstart.sh", "./tests/run.sh")  # the main job, the tests
TOP = 30  # the lines of README.md that are read first
BLOCKS = "docs_blocks"  # the program built from the output of `source`


class block:
    """A block of code: its kind, the line of its fence (from 1), its lines, and the hidden comments before it."""

    def __init__(self, kind, line, lines, hidden):
        self.kind, self.line, self.lines, self.hidden = kind, line, lines, hidden

    def note(self, word):
        """The rest of the hidden comment that begins with `word`, or None."""
        for text in self.hidden:
            if text.startswith(word):
                return text[len(word):].strip("\n")
        return None


class page:
    """A Markdown file: its name in messages, its lines, blocks, prose without blocks and comments, tables."""

    def __init__(self, root, name):
        self.name = name
        with open(os.path.join(root, name), encoding="utf-8") as file:
            self.text = file.read()
        self.lines = self.text.splitlines()
        self.blocks, self.prose, self.everywhere, self.tables = [], [], "", []
        hidden, at = [], 0
        while at < len(self.lines):
            line = self.lines[at]
            if line.lstrip().startswith("<!--"):
                start = at
                while "-->" not in self.lines[at]:
                    at += 1
                text = "\n".join(self.lines[start:at + 1]).strip()[4:]
                text = text[:text.index("-->")].strip(" ")
                if text.startswith("cpp everywhere"):
                    self.everywhere = text[len("cpp everywhere"):]
                else:
                    hidden.append(text)
            elif line.lstrip().startswith("```"):
                start, kind = at, line.strip()[3:]
                indent = len(line) - len(line.lstrip())
                at += 1
                while at < len(self.lines) and self.lines[at].strip() != "```":
                    at += 1
                if at == len(self.lines):
                    sys.exit(f"{name}:{start + 1}: a block without an end")
                self.blocks.append(block(kind, start + 1, [each[indent:] for each in self.lines[start + 1:at]], hidden))
                hidden = []
            elif line.startswith("|"):
                start = at
                while at + 1 < len(self.lines) and self.lines[at + 1].startswith("|"):
                    at += 1
                self.tables.append((start + 1, self.lines[start:at + 1], hidden))
                self.prose.extend((number, self.lines[number - 1]) for number in range(start + 1, at + 2))
                hidden = []
            else:
                if line.strip():
                    hidden = []
                self.prose.append((at + 1, line))
            at += 1

    def anchors(self):
        """The anchors that GitHub generates for its headings."""
        found, seen = set(), {}
        for _, line in self.prose:
            heading = re.match(r"#{1,6} +(.*?)#*$", line)
            if heading:
                text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
                slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
                count = seen.get(slug, 0)
                seen[slug] = count + 1
                found.add(f"{slug}-{count}" if count else slug)
            found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
        return found


def all_files(root, ending):
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [each for each in folders if not each.startswith((".", "build")) and each not in ("node_modules", "out")]
        names.extend(os.path.relpath(os.path.join(folder, each), root) for each in files if each.endswith(ending))
    return sorted(names)


def all_pages(root):
    return all_files(root, ".md")


def is_told(name):
    """Whether the blocks of a page are checked as well."""
    return name.startswith("docs/") or name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def told_pages(root):
    return [page(root, name) for name in all_pages(root) if is_told(name)]


# --- links, and the form of blocks ------------------------------------------------------------------------------------------

def cells_of(row):
    return [each.strip().replace("\\|", "|") for each in re.split(r"(?<!\\)\|", row)[1:-1]]


def stands_in(lines, text):
    """Whether lines occur in a text in order, with any indent; `...` between them matches anything."""
    there = [each.strip() for each in text.splitlines()]
    parts, at = [[]], 0
    for line in lines:
        if line.strip() == "...":
            parts.append([])
        else:
            parts[-1].append(line.strip())
    for part in parts:
        found = next((i for i in range(at, len(there) - len(part) + 1) if there[i:i + len(part)] == part), None)
        if found is None:
            return False
        at = found + len(part)
    return True


def wrong_block(root, each):
    """The error in the form of a block, or None."""
    text = "\n".join(each.lines)
    if each.kind not in KINDS:
        return f"a block of '{each.kind}': not one of {', '.join(sorted(KINDS))}"
    try:
        if each.kind == "json":
            json.loads(text)
        elif each.kind == "python":
            ast.parse(text)
    except (ValueError, SyntaxError) as failed:
        return f"no {each.kind}: {failed}"
    if each.kind == "sh":
        done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            return f"no shell script: {done.stderr.strip()}"
    of = each.note("of:")
    if of is not None:
        path = os.path.join(root, of.strip())
        if not os.path.isfile(path):
            return f"there is no {of.strip()}"
        with open(path, encoding="utf-8") as file:
            if not stands_in(each.lines, file.read()):
                return f"does not stand in {of.strip()}"
    return None


def check_links(root):
    wrong, links = [], 0
    pages = {name: page(root, name) for name in all_pages(root)}
    files = {os.path.basename(each) for each in all_files(root, (".cpp", ".hpp", ".ipp", ".tpp"))}
    for name, each in pages.items():
        names_headers = is_told(name) and name != "CHANGELOG.md"
        for number, line in each.prose:
            bare = re.sub(r"`[^`]*`", "", line)
            for target in re.findall(r"\]\(([^)\s]+)\)", bare):
                if re.match(r"[a-z]+:", target):
                    continue
                links += 1
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                if not os.path.exists(os.path.join(root, full)):
                    wrong.append(f"{name}:{number}: {target} leads nowhere")
                elif anchor and (full not in pages or anchor not in pages[full].anchors()):
                    wrong.append(f"{name}:{number}: {full} has no heading for #{anchor}")
            for source in re.findall(r"`<?(?:smdebug/)?([\w/]+\.[chit]pp)>?`", line) if names_headers else ():
                places = (os.path.join(root, folder, source) for folder in ("", "src", "include", "include/smdebug"))
                if not (any(map(os.path.exists, places)) if "/" in source else source in files):
                    wrong.append(f"{name}:{number}: there is no {source}")
            if is_told(name) and len(line) > WIDTH and not line.startswith("|"):
                wrong.append(f"{name}:{number}: {len(line)} columns, more than {WIDTH}")
        if is_told(name):
            for one in each.blocks:
                said = wrong_block(root, one)
                if said:
                    wrong.append(f"{name}:{one.line}: {said}")
    shown = [line.split("#")[0].strip() for one in pages["README.md"].blocks if one.kind == "sh"
             for number, line in enumerate(one.lines, one.line + 1) if number <= TOP]
    wrong.extend(f"README.md's first {TOP} lines lack {each}" for each in SET_UP if each not in shown)
    index = pages.get("docs/README.md")
    for name in pages:
        if index and name.startswith("docs/") and f"({os.path.relpath(name, 'docs')})" not in index.text and name != "docs/README.md":
            wrong.append(f"docs/README.md does not name {name}")
    return wrong, f"{len(pages)} pages, {links} links: all lead somewhere"


# --- cpp --------------------------------------------------------------------------------------------------------------------

def code_of_tables(each):
    """The pieces of code in tables that must compile: (line, piece, whether it is a type)."""
    for start, rows, hidden in each.tables:
        for text in hidden:
            asked = re.fullmatch(r"(calls|types) in column (\d+)", text)
            if asked:
                for number, row in enumerate(rows[2:], start + 2):
                    cells = cells_of(row)
                    for piece in re.findall(r"`([^`]+)`", cells[int(asked[2]) - 1]):
                        yield number, piece, asked[1] == "types"


def source_of(pages, includes, only_run=False):
    """One source of all C++ blocks, and their number; or of the blocks to run, with a main() that runs a page."""
    top, body, count, calls = list(includes), ["namespace smdebug {}", "namespace smd = smdebug;"], 0, []

    def add(name, line, lines, prelude, is_whole):
        before = []
        for each in prelude:
            if not each.startswith("#include "):
                before.append(each)
            elif each not in top:
                top.append(each)
        kept = []
        for each in lines:
            if each.startswith("#include "):
                include = re.match(r'#include [<"][^>"]+[>"]', each)[0]
                if include not in top:
                    top.append(include)
                kept.append("")
            else:
                kept.append("" if each.startswith("namespace smd") else each)
        head = f"namespace block_{count} {{" if is_whole else f"[[maybe_unused]] static void block_{count}() {{"
        piece = [*before, f'#line {line} "{name}"', *kept]
        body.extend(piece if is_whole == "outermost" else [head, *piece, "}"])

    for each in pages:
        for one in each.blocks:
            if one.kind != "cpp" or one.note("of:") is not None or only_run and one.note("run") is None:
                continue
            count += 1
            prelude = [line for text in (each.everywhere, one.note("cpp\n") or "") for line in text.splitlines()]
            has_main = any(line.startswith("int main(") for line in one.lines)
            whole = "outermost" if one.note("cpp outermost") is not None else has_main or one.note("cpp namespace") is not None
            add(each.name, one.line + 1, one.lines, prelude, whole)
            calls.append(f'if (page == "{each.name}") line = {one.line}, block_{count}{"::main" if has_main else ""}();')
        for line, piece, is_type in () if only_run else code_of_tables(each):
            count += 1
            statement = piece if piece.endswith(";") else f"static_cast<void>({piece});"
            if is_type:
                statement = f"static_assert(sizeof({piece}) > 0);"
            add(each.name, line, [statement], each.everywhere.splitlines(), False)
    if only_run:
        body += ["int main(int, char** arguments) {", "const std::string page{arguments[1]};", "int line = 0;", "try {", *calls,
                 "} catch (const std::exception& failed) {", 'std::printf("%s:%d: %s\\n", page.c_str(), line, failed.what());', "return 1;",
                 "}", "}"]
        top += ["#include <cstdio>", "#include <exception>", "#include <string>"]
    else:
        body.append("int main() {}")
    return "\n".join([*top, *body, ""]), count


def check_compile(root, folder, compiler, includes=USUAL_INCLUDES):
    text, count = source_of(told_pages(root), includes)
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "docs_blocks.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([*compiler, "-fsyntax-only", source], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [done.stderr], ""
    return [], f"{count} pieces of C++: all compile"


def write_source(root, file):
    text, count = source_of(told_pages(root), USUAL_INCLUDES, True)
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return ([] if count else ["no page has a block to be run"]), f"{count} pieces of C++ to be run"


# --- console ------------------------------------------------------------------------------------------------------------------

def commands_of(lines):
    """The commands of a block, each with its expected output."""
    commands = []
    for line in lines:
        if line.startswith("$ "):
            commands.append([line[2:], []])
        elif commands and commands[-1][0].endswith("\\") and not commands[-1][1]:
            commands[-1][0] += "\n" + line
        elif commands:
            commands[-1][1].append(line)
        else:
            return None
    return commands


def is_printed(wanted, printed):
    """Whether lines match: `...` alone is any lines, within a line any text."""
    wanted = [each.rstrip() for each in wanted]
    printed = [each.rstrip() for each in printed]
    while wanted and not wanted[-1]:
        wanted.pop()
    while printed and not printed[-1]:
        printed.pop()
    pattern = ""
    for line in wanted:
        pattern += r"(?:[^\n]*\n)*?" if line == "..." else "[^\n]*".join(map(re.escape, line.split("..."))) + r"\n"
    return re.fullmatch(pattern, "".join(each + "\n" for each in printed)) is not None


def check_options(name, one, options_of):
    """The used options that `smdebug COMMAND` does not have."""
    wrong = []
    text = "\n".join(one.lines).replace("\\\n", " ")
    for line in text.splitlines():
        if one.kind == "console" and not line.startswith("$ "):
            continue
        line = re.sub(r"(?:^|\s)#.*", "", line)
        for command, rest in re.findall(r"\bsmdebug ([a-z]+)\b([^|;>&]*)", re.sub(r"'[^']*'", "''", line)):
            known = options_of(command)
            if known is None:
                wrong.append(f"{name}:{one.line}: smdebug has no command {command}")
                continue
            for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest):
                if option not in known:
                    wrong.append(f"{name}:{one.line}: smdebug {command} has no option {option}")
    return wrong


def check_run(root, folder, programs, update=False):
    wrong, count, left_out = [], 0, []
    shutil.rmtree(folder, ignore_errors=True)
    binaries = os.path.join(os.path.abspath(folder), "bin")
    os.makedirs(binaries)
    for program in programs:
        os.symlink(os.path.abspath(program), os.path.join(binaries, os.path.basename(program)))
    names = {os.path.basename(each) for each in programs}
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SMDEBUG_", "AWS_", "XDG_"))}
    environment.update(PATH=binaries + ":" + environment.get("PATH", "/usr/bin:/bin"), LC_ALL="C.UTF-8", TERM="dumb")
    known = {}

    def options_of(command):
        if "smdebug" not in names:
            return None
        if command not in known:
            done = subprocess.run(["smdebug", command, "--help"], env=environment, capture_output=True, text=True, check=False)
            known[command] = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout)) if done.returncode == 0 else None
        return known[command]

    for each in told_pages(root):
        place = os.path.join(os.path.abspath(folder), each.name.replace("/", "_"))
        os.makedirs(os.path.join(place, "runs"))
        environment["HOME"] = place
        golden = os.path.join(root, "tests/data/golden")
        for run in sorted(set(re.findall(r"\bruns/([\w/]+)", each.text))):
            if os.path.isdir(os.path.join(golden, run)) and run != "damaged":
                shutil.copytree(os.path.join(golden, run), os.path.join(place, "runs", run))
        changed = []
        if any(one.kind == "cpp" and one.note("run") is not None for one in each.blocks):
            if BLOCKS not in names:
                left_out.append(BLOCKS)
            else:
                beside = shutil.copytree(place, place + "_cpp")
                done = subprocess.run([BLOCKS, each.name], cwd=beside, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, timeout=120, check=False, errors="replace")
                if done.returncode != 0:
                    wrong.append(f"{each.name}: its C++ ends with status {done.returncode}\n{done.stdout}{done.stderr}")
                wanted = [line for one in each.blocks if one.note("printed") is not None for line in [*one.lines, "..."]]
                if not stands_in(wanted, done.stdout):
                    wrong.append(f"{each.name}: its C++ does not print its blocks behind <!-- printed -->, but\n{done.stdout}")
        for one in each.blocks:
            if one.kind in ("sh", "console"):
                wrong.extend(check_options(each.name, one, options_of))
            if one.kind != "console":
                continue
            if one.note("needs:") is not None and one.note("needs:").strip() not in names:
                left_out.append(one.note("needs:").strip())
                continue
            commands = commands_of(one.lines)
            if not commands:
                wrong.append(f"{each.name}:{one.line}: a block of console begins with '$ command'")
                continue
            shown = []
            for command, lines in commands:
                count += 1
                status = re.search(r"# exit status (\d+)", command)
                try:
                    done = subprocess.run(["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False, errors="replace")
                    said, ended = done.stdout, done.returncode
                except subprocess.TimeoutExpired:
                    said, ended = "", "none: it does not end"
                if ended != (int(status[1]) if status else 0):
                    wrong.append(f"{each.name}:{one.line}: $ {command}: exit status {ended}\n{said}")
                fits = is_printed(lines, said.splitlines())
                if not fits and not update:
                    wrong.append(f"{each.name}:{one.line}: $ {command}: prints\n{said}")
                shown.extend(["$ " + command, *(lines if fits else [line.rstrip() for line in said.splitlines()])])
            changed.append((one, shown))
        if update:
            lines = each.lines
            for one, shown in reversed(changed):
                lines[one.line:one.line + len(one.lines)] = "\n".join(shown).splitlines()
            with open(os.path.join(root, each.name), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    omitted = f"; left out, without {', '.join(sorted(set(left_out)))}" if left_out else ""
    return wrong, f"{count} commands: each prints what the page says{omitted}"


# --- self-test: each check must find its errors -----------------------------------------------------------------------


def self_test(folder, compiler):
    wrong = []
    for old, new, what, said in CASES:
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "docs"))
            programs = [os.path.join(root, "smdebug"), os.path.join(root, BLOCKS)]
            for name, text in {"README.md": GOOD, "docs/README.md": OTHER, "source.txt": "zero\none\ntwo\nthree\n", "b.hpp": "",
                               "smdebug": "#!/bin/sh\necho ' --such,-s'\n", BLOCKS: "#!/bin/sh\nprintf 'four\\nfive\\nsix\\n'\nexit 0\n"}.items():
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text.replace(old, new) if old else text)
            for program in programs:
                os.chmod(program, 0o755)
            checks = {"links": lambda: check_links(root), "compile": lambda: check_compile(root, folder, compiler, ()),
                      "run": lambda: check_run(root, os.path.join(root, "build"), programs)}
            for name, check in checks.items():
                if what not in (None, name):
                    continue
                found = "\n".join(check()[0])
                if (said not in found) if said and name == what else found:
                    wrong.append(f"{old!r} -> {new!r}: {name} should say {said!r}, but says {found!r}")
    return wrong, f"{len(CASES)} cases"


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "links":
        wrong, said = check_links(rest[0])
    elif what == "compile":
        wrong, said = check_compile(rest[0], rest[1], rest[2:])
    elif what == "source":
        wrong, said = write_source(rest[0], rest[1])
    elif what == "run":
        update = rest[0] == "--update"
        rest = rest[update:]
        wrong, said = check_run(rest[0], rest[1], rest[2:], update)
    elif what == "--self-test":
        wrong, said = self_test(rest[0], rest[1:])
    else:
        sys.exit(__doc__)
    if wrong:
        sys.exit("\n".join(wrong))
    print(said)


if __name__ == "__main__":
    main()
