"""What the headers of include/smdebug declare, read as text: comments, literals and bodies of functions are skipped.

headers.py ROOT: lists the types (classes, enumerations) that a user may name, a folder a paragraph, and counts them.
headers.py ROOT --at-most N: fails where there are more; what no user names belongs in namespace detail."""
import os
import re
import sys

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
DECLARATION = re.compile(
    r"\b(?:(class|struct|union|enum(?: class| struct)?)\s+(?:\[\[[^\]]*\]\]\s*)*(?:alignas\([^)]*\)\s*)?(\w+)(?!\s*[\w:]*::)"
    r"|(concept)\s+(\w+)\s*=|(using)\s+(\w+)\s*=)")
NAMESPACE = re.compile(r"\b(inline\s+)?namespace\s*([\w:]*)\s*$")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def code_of(text):
    """A file's text without comments and literals; lines stay where they are."""
    return SKIPPED.sub(lambda found: ('""' if found[0][0] in "\"'R" else "") + "\n" * found[0].count("\n"), text)


def declared(code):
    """(name, kind, namespaces) of each type, concept and alias that stands in a namespace and is defined there."""
    code = re.sub(r"^[ \t]*#.*$", "", code, flags=re.M)
    found, open_braces, start = [], [], 0  # of each open brace: the name of its namespace, or None
    for mark in re.finditer(r"[{};]", code):
        head = code[start:mark.start()]
        start = mark.end()
        if None not in open_braces:
            names = [name for name in open_braces if name]
            # A class's head stands before its brace, an alias or a concept before its semicolon; the last one counts, as
            # template parameters come before it.  `class name;` only declares.
            head = re.sub(r"\btemplate\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", head)
            match = DECLARATION.search(head)
            if match and match[3]:
                found.append((match[4], "concept", names))
            elif match and match[5]:
                found.append((match[6], "alias", names))
            elif match and mark[0] == "{" and re.match(r"\s*(final\s*)?(:(?!:)|$)", head[match.end():]):
                found.append((match[2], match[1].split()[0], names))
        if mark[0] == "{":
            match = NAMESPACE.search(head)
            if match:
                open_braces.append("" if match[1] else match[2] or "(anonymous)")
            else:
                open_braces.append(None)
        elif mark[0] == "}" and open_braces:
            open_braces.pop()
    # A concept's definition or an alias may hold braces, and end at them: seen once is enough.
    return list(dict.fromkeys((name, kind, tuple(names)) for name, kind, names in found))


def headers_of(root):
    """Paths below include/smdebug, sorted."""
    top = os.path.join(root, "include", "smdebug")
    paths = [os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names]
    return top, sorted((path for path in paths if re.search(r"\.[hit]pp$", path)), key=lambda path: (os.path.dirname(path), path))


def public_types(root):
    top, headers = headers_of(root)
    found = {}
    for header in headers:
        for name, kind, names in declared(code_of(text_of(os.path.join(top, header)))):
            inside = "::".join(names).split("::")
            if kind not in ("concept", "alias") and "detail" not in inside and "(anonymous)" not in inside:
                found.setdefault(header, []).append(name)
    return found


def main():
    found = public_types(sys.argv[1])
    folder = None
    for header, names in found.items():
        if os.path.dirname(header) != folder:
            folder = os.path.dirname(header)
            inside = sum(len(own) for path, own in found.items() if os.path.dirname(path) == folder)
            print(f"\n{folder or '.'}: {inside}")
        print(f"  {os.path.basename(header)}: {' '.join(names)}")
    count = sum(len(names) for names in found.values())
    print(f"\n{count} types outside detail")
    if "--at-most" in sys.argv and count > int(sys.argv[sys.argv.index("--at-most") + 1]):
        sys.exit("more than there may be: put what no user names into namespace detail, or raise the number with a reason")


if __name__ == "__main__":
    main()
