#!/usr/bin/env python3
"""Checks the layers in CONTRIBUTING.md, between the marks layers:begin and layers:end, for include/smdebug and
src/program: a header, with its bodies in impl/ or the .cpp beside it, may include and use only the layers that its own
layer allows.

check_layers.py ROOT   fails on
  - an include that the table does not allow: an arrow between layers, or a third party outside its leaf;
  - a type used through indirect includes from a layer that the table does not allow;
  - headers that include each other in a circle.
A row's layer is a folder, a subfolder (`trial/catalog`), or a single header at the top; a header belongs to the
longest that matches.  `trial` in the second column allows the folder with its subfolders, `trial/*.hpp` only the
headers in the folder, `trial/options.hpp` only that one.  A folder's own headers may include its subfolders;
a subfolder only what its row names.
check_layers.py --self-test: finds each kind of breach, and no false ones."""
import graphlib
import os
import re
import sys
import tempfile

import headers

# Includes of third parties.  Any other include with a '/' or ending in ".h" or ".hpp" is unknown, which is a breach;
# standard headers have neither.
THIRD_PARTIES = {
    "xtensor": r"xtensor/|xtl/",
    "xsimd": r"xsimd/",
    "simdjson": r"simdjson(\.h$|/)",
    "pcre2": r"pcre2\.h$",
    "CLI11": r"CLI/",
    "zlib": r"zlib\.h$",
    "libzstd": r"zstd\.h$",
    "SQLite": r"sqlite3\.h$",
    "MPI": r"mpi\.h$",
    "libcurl": r"curl/",
    "libcrypto": r"openssl/",
    "pugixml": r"pugixml\.hpp$",
    "libtorch": r"(torch|ATen|c10)/",
    "DLPack": r"dlpack/",
    "intrinsics": r"([a-z0-9_]*intrin|arm_neon|arm_acle|cpuid)\.h$",
    "POSIX": r"(fcntl|unistd|dirent|poll|errno|time|limits|malloc|spawn|pthread)\.h$|sys/[a-z]+\.h$|linux/[a-z_]+\.h$",
}
# A name in the position of a type: after tokens that may precede one, before tokens that may follow one.
BEFORE = r"(?:^|[(<,;{}\[&|!]|\b(?:const|typename|return|new|requires|using|template|inline|static|explicit|friend|mutable|constexpr)\s|\bsmdebug::|\bv1::)\s*"
# Declarations of a variable, member or parameter of that name: in such files uses of the type are not searched.
VARIABLE = r"(?:[>&*\]]|\b(?!(?:class|struct|enum|typename|const|return|new|using|concept|constexpr|static|inline)\b)\w+)\s+[&*]?{}\s*(?:=[^=]|[;,){{(:\[])"
BEHIND = r"\s*(?:<[^=<]|::|[&*]+\s*[a-z_)>,.]|>|\s[a-z_]\w*\s*[;,)({=])"


class table:
    """The rules in CONTRIBUTING.md for each layer and each third party."""

    def __init__(self, root):
        text = headers.text_of(os.path.join(root, "CONTRIBUTING.md"))
        try:
            text = text[text.index("<!-- layers:begin -->"):text.index("<!-- layers:end -->")]
        except ValueError:
            sys.exit("CONTRIBUTING.md has no table between <!-- layers:begin --> and <!-- layers:end -->.")
        self.allowed, self.denied, self.leaves = {}, {}, {party: [] for party in THIRD_PARTIES}
        for row in re.findall(r"^\|.*\|$", text, re.M):
            if re.match(r"\| *folder|\|-", row):
                continue
            cells = re.fullmatch(r"\| *`([^`]+)` *\|([^|]*)\|([^|]*)\|", row)
            if not cells:
                sys.exit(f"CONTRIBUTING.md: not a row `layer` | may include | third party: {row}")
            self.add(*cells.groups())

    def add(self, layer, may, third):
        self.allowed[layer], self.denied[layer] = [layer], []
        for entry in filter(None, (entry.strip() for entry in may.split(","))):
            match = re.fullmatch(r"(not )?`([^`]+)`", entry)
            if not match:
                sys.exit(f"CONTRIBUTING.md, row {layer}: '{entry}' is neither `name` nor not `name`")
            (self.denied if match[1] else self.allowed)[layer].append(match[2])
        for entry in filter(None, (entry.strip() for entry in third.split(","))):
            match = re.fullmatch(r"(\w+) in (`.*`)", entry)
            if not match or match[1] not in THIRD_PARTIES:
                sys.exit(f"CONTRIBUTING.md, row {layer}: '{entry}' is not: one of {', '.join(THIRD_PARTIES)}, then in `file`")
            self.leaves[match[1]] += re.findall(r"`([^`]+)`", match[2])

    def layer_of(self, header):
        fits = [layer for layer in self.allowed if header == layer or header.startswith(layer + "/")]
        return max(fits, key=len, default=None)

    def allows(self, layer, header):
        def names(entry):
            if entry.endswith("/*.hpp"):
                return os.path.dirname(header) == entry[:-6]
            return entry in ("everything", header) or header.startswith(entry + "/")

        return any(map(names, self.allowed[layer])) and not any(map(names, self.denied[layer]))


def public(header):
    """The header whose bodies are in a file, or the file itself."""
    return re.sub(r"impl/([^/]+)\.[it]pp$|(?<=/)([^/]+)\.cpp$", lambda match: (match[1] or match[2]) + ".hpp", header)


def files_of(root):
    """The files covered by the table: {include path: file path}."""
    top, paths = headers.headers_of(root)
    files = {path: os.path.join(top, path) for path in paths}
    program = os.path.join(root, "src", "program")
    for folder, _, names in sorted(os.walk(program)):
        for name in sorted(names):
            if re.search(r"\.[hc]pp$", name):
                path = os.path.join(folder, name)
                files["program/" + os.path.relpath(path, program)] = path
    return files


def circle_in(includes):
    """A cycle of headers as a list with equal ends; or nothing."""
    try:
        graphlib.TopologicalSorter(includes).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return None


def breaches_of(root):
    allowed = table(root)
    paths = files_of(root)
    breaches, includes, code, homes, seen = [], {}, {}, {}, 0
    for path in paths:
        counts_as = public(path)
        layer = allowed.layer_of(counts_as)
        if layer is None:
            breaches.append(f"{path}: the table has no row for {path.split('/')[0]}")
            continue
        text = headers.text_of(paths[path])
        code[path] = headers.code_of(text)
        for name, _, _ in headers.declared(code[path]):
            homes.setdefault(name, set()).add(counts_as)
        for line in re.findall(r"^[ \t]*#[ \t]*include.*$", text, re.M):
            seen += 1
            match = re.search(r"<([^>]+)>", line)
            if not match:
                breaches.append(f"{path}: not of the form #include <...>: {line}")
                continue
            target = match[1]
            if target.startswith(("smdebug/", "program/")):
                name, target = target, target.removeprefix("smdebug/")
                if not allowed.allows(layer, public(target)):
                    breaches.append(f"{path}: {layer} may not include {name}")
                elif target not in paths:
                    breaches.append(f"{path}: there is no {name}")
                if path == counts_as and target == public(target):
                    includes.setdefault(path, []).append(target)
            elif re.search(r"[/.]", target):
                party = next((party for party, form in THIRD_PARTIES.items() if re.match(form, target)), None)
                if party is None:
                    breaches.append(f"{path}: <{target}> belongs to no third party that check_layers.py knows")
                elif not any(counts_as == leaf or counts_as.startswith(leaf + "/") for leaf in allowed.leaves[party]):
                    breaches.append(f"{path}: <{target}> ({party}) is allowed only in: {', '.join(allowed.leaves[party])}")
    if not seen:
        breaches.append(f"no #include found under {top}: the check has nothing to check")
    circle = circle_in(includes)
    if circle:
        breaches.append(f"a circle: {' -> '.join(circle)}")
    breaches += uses_not_allowed(allowed, code, homes)
    return breaches, f"{len(paths)} files, {seen} includes: all follow the table in CONTRIBUTING.md"


def uses_not_allowed(allowed, code, homes):
    """Uses of types whose name belongs to a single header."""
    homes = {name: next(iter(places)) for name, places in homes.items() if len(places) == 1}
    own_code = {}  # of a header with its bodies
    for path, text in code.items():
        own_code[public(path)] = own_code.get(public(path), "") + text
    breaches = []
    for path, text in code.items():
        layer = allowed.layer_of(public(path))
        words = set(re.findall(r"\b[a-z_]\w*\b", text))
        for name in sorted(words & homes.keys()):
            home = homes[name]
            if home == public(path) or allowed.allows(layer, home):
                continue
            match = re.search(BEFORE + rf"\b{name}\b" + BEHIND, text, re.M)
            own = rf"\b(class|struct|enum|union|using)\s+{name}\b"
            if match and not any(re.search(form, own_code[public(path)]) for form in (VARIABLE.format(name), own)):
                line = text.count("\n", 0, match.end()) + 1
                breaches.append(f"{path}:{line}: {layer} may not use {name} of smdebug/{home}")
    return breaches


def check(root):
    breaches, summary = breaches_of(root)
    if breaches:
        sys.exit("The layers of CONTRIBUTING.md are broken:\n  " + "\n  ".join(breaches))
    print(summary)


PAGE = """text with [ in it
<!-- layers:begin -->
| folder | may include | third party |
|---|---|---|
| `core` | | |
| `record` | `core`, not `core/error.hpp` | intrinsics in `record/a.hpp` and `record/b.hpp` |
| `rules` | `core`, `trial/concepts.hpp` | |
| `trial` | `core` | |
| `trial/load` | `core`, `trial/concepts.hpp` | |
| `watch` | `trial/*.hpp` | POSIX in `watch/posix` |
| `top.hpp` | `everything`, not `rules` | |
<!-- layers:end -->
| `core` | `rules` | |
"""
OTHERS = {
    "core/bytes.hpp": "class bytes {};",
    "core/error.hpp": "",
    "trial/concepts.hpp": "#include <smdebug/core/bytes.hpp>",
    "trial/other.hpp": "namespace smdebug { inline namespace v1 {\ntemplate <class T> class other final : base<T> { int held; };\n} }",
    "trial/load/loader.hpp": "namespace smdebug {\nstruct loader { int x = 0; };\n}",
    "rules/r.hpp": "",
}
CASES = [
    ("an allowed arrow", "record/a.hpp", "#include <smdebug/core/bytes.hpp>", ""),
    ("its own folder", "core/a.hpp", "#include <smdebug/core/error.hpp>", ""),
    ("an arrow upwards", "core/a.hpp", "#include <smdebug/record/b.hpp>", "core may not include smdebug/record/b.hpp"),
    ("a file taken away", "record/a.hpp", "  #  include <smdebug/core/error.hpp>", "record may not include smdebug/core/error.hpp"),
    ("a single file", "rules/a.hpp", "#include <smdebug/trial/concepts.hpp>", ""),
    ("its neighbour", "rules/a.hpp", "#include <smdebug/trial/other.hpp>", "rules may not include smdebug/trial/other.hpp"),
    ("everything", "top.hpp", "#include <smdebug/trial/other.hpp>", ""),
    ("everything, without a folder", "top.hpp", "#include <smdebug/rules/r.hpp>", "top.hpp may not include smdebug/rules/r.hpp"),
    ("a folder to its subfolder", "trial/a.hpp", "#include <smdebug/trial/load/loader.hpp>", ""),
    ("a subfolder to its folder", "trial/load/a.hpp", "#include <smdebug/trial/concepts.hpp>", ""),
    ("a subfolder to another header of its folder", "trial/load/a.hpp", "#include <smdebug/trial/other.hpp>", "trial/load may not include smdebug/trial/other.hpp"),
    ("another folder's doors", "watch/a.hpp", "#include <smdebug/trial/other.hpp>", ""),
    ("another folder's subfolder", "watch/a.hpp", "#include <smdebug/trial/load/loader.hpp>", "watch may not include smdebug/trial/load/loader.hpp"),
    ("a second leaf", "record/b.hpp", "#include <immintrin.h>", ""),
    ("a third party outside its leaf", "core/a.hpp", "#include <immintrin.h>", "(intrinsics) is allowed only in: record/a.hpp"),
    ("a folder of leaves", "watch/posix/file.hpp", "#include <fcntl.h>", ""),
    ("outside a folder of leaves", "watch/file.hpp", "#include <fcntl.h>", "(POSIX) is allowed only in: watch/posix"),
    ("the bodies of a leaf", "record/impl/b.ipp", "#include <immintrin.h>", ""),
    ("the bodies of a subfolder", "trial/load/impl/a.tpp", "#include <smdebug/trial/other.hpp>", "trial/load may not include"),
    ("bodies outside a leaf", "core/impl/a.tpp", "#include <immintrin.h>", "(intrinsics) is allowed only in: record/a.hpp"),
    ("a third party without a leaf", "core/a.hpp", "#include <xtensor/xarray.hpp>", "(xtensor) is allowed only in:"),
    ("an unknown third party", "core/a.hpp", "#include <boost/any.hpp>", "<boost/any.hpp> belongs to no third party"),
    ("quotes", "core/a.hpp", '#include "bytes.hpp"', "not of the form #include <...>"),
    ("a missing header", "core/a.hpp", "#include <smdebug/core/gone.hpp>", "there is no smdebug/core/gone.hpp"),
    ("a folder without a row", "other/a.hpp", "#include <smdebug/core/bytes.hpp>", "no row for other"),
    ("a circle", "core/bytes.hpp", "#include <smdebug/core/bytes.hpp>", "a circle: core/bytes.hpp -> core/bytes.hpp"),
    ("a circle of two", "core/bytes.hpp", "#include <smdebug/trial/concepts.hpp>", "core/bytes.hpp -> trial/concepts.hpp -> core/bytes.hpp"),
    ("a use", "rules/a.hpp", "void f(const loader& from);", "rules/a.hpp:2: rules may not use loader of smdebug/trial/load/loader.hpp"),
    ("a use of a template", "watch/a.hpp", "struct x { other<int> y; };", ""),
    ("a use of a template from below", "core/a.hpp", "struct x { other<int> y; };", "core may not use other of smdebug/trial/other.hpp"),
    ("a comment and a text", "rules/a.hpp", '// a loader& x\nconst char* a = "loader& x";', ""),
    ("a name of another", "rules/a.hpp", "void f(const dom::loader& from);", ""),
    ("a variable that is called like a type", "rules/a.hpp", "void f() { bytes loader = 1; g<loader>(2); }", ""),
    ("a type inside another", "rules/a.hpp", "class bytes_of { struct loader; loader* held; };", ""),
    ("a variable of that name", "rules/a.hpp", "int loader = 0; int f() { return loader + x.loader; }", ""),
]


def self_test():
    wrong = []
    for what, header, content, wanted in CASES:
        with tempfile.TemporaryDirectory() as root:
            for name, text in {"CONTRIBUTING.md": PAGE, **{f"include/smdebug/{k}": v for k, v in OTHERS.items()},
                               f"include/smdebug/{header}": "// Text.\n" + content + "\n#include <vector>\n"}.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            said = "; ".join(breaches_of(root)[0])
            if (wanted not in said) if wanted else said:
                wrong.append(f"{what}: should say '{wanted}', but says '{said}'")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(CASES)} cases")


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test()
    else:
        check(sys.argv[1])
