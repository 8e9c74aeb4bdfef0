#!/usr/bin/env python3
"""Words that a native reader has to read twice, in comments, messages and pages: each with what to write instead.

check_words.py ROOT [PATH...]   lists every sentence with one of them, as file:line, and fails if there is any
check_words.py --self-test      finds each of them, and is quiet where they are part of code

In C++ only comments and texts in quotes are read, in scripts whole lines but for code words."""
import os
import re
import subprocess
import sys

# What is found, and what to write.
WORDS = [
    (r"\bwho(m|ever)?\b", "name the subject: the caller, the thread, a rule"),
    (r"\b(tells?|telling|told)\b", "reports, returns, says whether, shows"),
    (r"\bat hand\b", "available, already in memory"),
    (r"\b(goes|go|going|went|gone) by\b", "uses, is decided by, passes"),
    (r"\basked (for|of)\b", "requested, wanted, named"),
    (r"\bis asked\b|\bare asked\b|\basks? nobody\b", "is called, is queried"),
    (r"\bin passing\b", "while the file is read, during the scan"),
    (r"\bnobody\b", "no one; better: name the subject"),
    (r"\bwings?\b", "subfolder"),
    (r"\bbrought near(er)?\b|\bnear already\b|\bfar enough away\b", "prefetched, cached, local, remote"),
    (r"\bsays? nothing (of|about)\b", "is not reported"),
    (r"\b(to be|be|is|are) had\b", "is available"),
    (r"(?:^|[.:;] )[Oo]f (?:an? |the |its? )?\w+(?: \w+)? (?:that|which|only|what|its|their)\b", "begin with the subject"),
    (r"\bof (?:one|those|what|others?|some|them) (?:that|which|only)\b", "name the thing"),
    (r"\bthe others?,? (?:get|have|do) \w+ for nothing\b|\bfor nothing\b", "at no cost, shares"),
    (r"\bthere is none of\b|\bthere are none of\b", "has no"),
    (r"\bhas(?:n't| not| no) (?:a )?say\b", "does not decide"),
    (r"\bas (?:it|they) l(?:ies|ie|ay)\b", "in place, as stored"),
]
FOUND = [(re.compile(pattern), instead) for pattern, instead in WORDS]
# Of comments in headers: each is read alone, in the reference or in an editor.
STANDS_ALONE = (re.compile(r"^The same\b"), "say what it does, as if there was no comment above it")
ALONE = re.compile(r"^include/")
SUFFIXES = (".hpp", ".ipp", ".tpp", ".cpp", ".md", ".sh", ".py", ".cmake", ".txt")
# Read as they are: recorded data, what others have written, and the list of words itself.
EXCEPT = re.compile(r"^(tests/data/|report/|CHANGELOG\.md|LICENSE|NOTICE|tests/(check_words|headers)\.py|include/smdebug/report/page/impl/(bundle|licences)|debian/)")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)


def prose_of_code(text):
    """Comments and texts in quotes, with their line; what stands in backquotes is code."""
    for found in TOKEN.finditer(text):
        token = found[0]
        if token.startswith("'"):
            continue
        line = text.count("\n", 0, found.start()) + 1
        for i, part in enumerate(token.split("\n")):
            yield line + i, re.sub(r"^\s*(?:///?<?|\*)?\s*|^\"", "", part)


def prose_of_page(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def breaches(name, text):
    prose = prose_of_code(text) if name.endswith((".hpp", ".ipp", ".tpp", ".cpp")) else prose_of_page(text)
    found_in = [*FOUND, STANDS_ALONE] if ALONE.search(name) else FOUND
    for number, line in prose:
        said = re.sub(r"`[^`]*`|\b\w+\(\)|\b\w*_\w*\b|https?://\S+", "", line)
        for pattern, instead in found_in:
            if found := pattern.search(said):
                yield number, found[0].strip(), instead, line.strip()


def self_test():
    for text in ("who", "tells", "told", "at hand", "goes by", "asked for", "in passing", "nobody", "wings", "brought near", "for nothing"):
        assert list(breaches("a.hpp", f"// a line with {text} in it")), text
        assert list(breaches("a.cpp", f'auto x = "{text}";')), text
        assert list(breaches("a.md", text)), text
    assert list(breaches("a.hpp", "// Of small records only the bytes."))
    assert list(breaches("a.hpp", "// Kept: of a record that is small the bytes."))
    assert list(breaches("include/a.hpp", "    /// The same for all files."))
    assert not list(breaches("include/a.hpp", "/// Returns the same text.\n/// Theirs: the same."))
    for text in ("int told = who(nobody);", "// `who` is a name, as is tell_all()", "// the size of a file that grows", "// whole, whom_it"):
        assert not list(breaches("a.hpp", text)), text
    print("the self-test found all words")


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    root, only = arguments[0], arguments[1:]
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 and listed.stdout else [
        os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root) for name in files
        if not re.search(r"/(build|\.git|node_modules)(/|$)", folder)]
    count = 0
    for name in sorted(names):
        if not name.endswith(SUFFIXES) or EXCEPT.search(name) or (only and not any(name.startswith(part) for part in only)):
            continue
        try:
            with open(os.path.join(root, name), encoding="utf-8") as file:
                text = file.read()
        except OSError:
            continue
        for number, word, instead, line in breaches(name, text):
            count += 1
            print(f"{name}:{number}: '{word}': {instead}: {line[:140]}")
    if count:
        print(f"{count} sentences to write anew")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
