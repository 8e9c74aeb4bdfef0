"""What the headers of include/smdebug declare, read as text: comments, literals and bodies of functions are skipped.

headers.py ROOT: lists and counts the types (classes, enumerations) that a user may name, one paragraph a folder.
headers.py ROOT --at-most N: fails if there are more; types that no user names belong in namespace detail.
headers.py ROOT --hides-detail: fails where a public data member or function of a class outside namespace detail names a type of one.
headers.py ROOT --named-in FILE: fails where FILE does not name a public function of the headers that it and smdebug.hpp include, and
where smdebug.hpp has a public type header-only that all of them have not in the compiled form."""
import os
import re
import sys

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
DECLARATION = re.compile(
    r"\b(?:(class|struct|union|enum(?: class| struct)?)\s+(?:\[\[[^\]]*\]\]\s*)*(?:alignas\([^)]*\)\s*)?(\w+)(?!\s*[\w:]*::)"
    r"|(concept)\s+(\w+)\s*=|(using)\s+(\w+)\s*=)")
NAMESPACE = re.compile(r"\b(inline\s+)?namespace\s*((?:inline\s+|[\w:])*)\s*$")


def named(namespaces):
    """smdebug::inline v1::detail: smdebug::detail."""
    return re.sub(r"inline\s+\w+(::)?", "", namespaces).strip().rstrip(":")


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
            # A class's head precedes its brace, an alias or a concept its semicolon; the last match counts, as template
            # parameters precede it.  `class name;` only declares.
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
                open_braces.append("" if match[1] else named(match[2]) or "(anonymous)")
            else:
                open_braces.append(None)
        elif mark[0] == "}" and open_braces:
            open_braces.pop()
    # A concept's definition or an alias may contain or end at braces: duplicates are removed.
    return list(dict.fromkeys((name, kind, tuple(names)) for name, kind, names in found))


def headers_of(root):
    """Paths under include/smdebug, sorted."""
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


# Names that these headers declare outside detail for other headers: functions, and virtual functions.
PLUMBING = {"allocate_elements", "decode_named", "histogram_in", "interpolated", "place_of", "quantiles_in", "set_buckets",
            "interrupt", "pass", "prefetch", "told", "wait_until"}
# Words before a parenthesis that are not function names.
NO_FUNCTION = r"(?:noexcept|requires|explicit|decltype|alignas)\s*\((?:[^()]|\([^()]*\))*\)"
# Some of the umbrella's classes are defined in headers that it includes through these.
BEHIND = ("smdebug/hook/hook.hpp", "smdebug/hook/hook.hpp", "smdebug/rules/invoke_rules.hpp", "smdebug/trial/tensor_handle.hpp")


def without_angles(head):
    """A declaration without the arguments and parameters of templates."""
    head = re.sub(r"->|<=>|<<|>=|<=|\btemplate\b", "", head)
    while True:
        shorter = re.sub(r"<[^<>]*>", "", head)
        if shorter == head:
            return head
        head = shorter


def usable_heads(code):
    """(head, classes around it, class that it opens or None) of what stands outside namespaces called detail, in classes
    among what is public, and outside bodies of functions."""
    code = re.sub(r"^[ \t]*#.*$", "", code, flags=re.M)
    scopes, start = [], 0  # of each open brace [kind, name, whether what stands there may be used]
    for mark in re.finditer(r"[{};]|\b(public|private|protected)\s*:(?!:)", code):
        if mark[1]:
            if scopes and scopes[-1][0] == "class":
                scopes[-1][2] = mark[1] == "public"
                start = mark.end()
            continue
        head = code[start:mark.start()]
        start = mark.end()
        namespace = NAMESPACE.search(head)
        plain = without_angles(head)
        opens = None if re.search(r"\benum\b|\(|=", plain) else re.search(
            r"\b(class|struct)\s+(?:\[\[[^\]]*\]\]\s*)*(\w+)\s*(?:final\s*)?(?::(?!:)|$)", plain)
        if scopes and all(scope[2] for scope in scopes):
            yield head, [scope[1] for scope in scopes if scope[0] == "class"], opens and opens[2]
        if mark[0] == "{":
            if namespace:
                scopes.append(["namespace", "", "detail" not in named(namespace[2]).split("::")])
            elif opens:
                scopes.append(["class", opens[2], opens[1] == "struct"])
            else:
                scopes.append(["body", "", False])
        elif mark[0] == "}" and scopes:
            scopes.pop()


def functions(code):
    """Names of the functions, and public member functions, that are declared outside namespaces called detail."""
    found = set()
    for whole, classes, _ in usable_heads(code):
        head = without_angles(whole)
        if not re.search(r"\b(friend|using|operator)\b", head):
            declared_as = re.sub(r"\)\s*:(?!:).*", ")", re.sub(NO_FUNCTION, "", head), flags=re.S)  # without initialisers
            match = re.search(r"(?<![~:])\b([a-z]\w*)\s*\(", declared_as)
            if match and re.search(r"\w[^=]*$", head[:match.start()]) and "=" not in head[:match.start()]:
                if match[1] not in (*classes[-1:], "static_assert"):
                    found.add(match[1])
    return found


def without_values(code):
    """Code whose braces and semicolons between parentheses are blanks: those of default arguments are no scopes."""
    depth, kept = 0, []
    for mark in code:
        depth += (mark == "(") - (mark == ")")
        kept.append(" " if depth > 0 and mark in "{};" else mark)
    return "".join(kept)


def shown_details(code):
    """(class, declaration) of each public member of a class outside detail whose type or signature names a detail type.
    Concepts, template defaults, initial values and friends are no part of it."""
    found = []
    for head, classes, opens in usable_heads(without_values(code)):
        if classes and not opens:
            shown = re.sub(r"\btemplate\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>|\bfriend\b.*", "", head, flags=re.S)
            shown = re.sub(r"\brequires\b.*?(?=\b(?:explicit|static|using)\b|\[\[|$)", "", shown, flags=re.S)
            shown = re.sub(r"\)\s*(?:noexcept\s*)?:(?!:).*", ")", shown, flags=re.S)  # without initialisers of members
            if not shown.strip().startswith("using"):
                shown = re.sub(r"(?<![=<>!])=(?!=)(?:[^,()]|\([^()]*\))*", "", shown)
            if re.search(r"\bdetail::", shown):
                found.append((classes[-1], re.sub(r"\[\[.*?\]\]", "", " ".join(shown.split())).strip()))
    return found


def reached(root, header, compiled, seen):
    """The headers that one includes, itself too, in one of the forms."""
    if header not in seen:
        seen.add(header)
        text = text_of(os.path.join(root, "include", header))
        other = r"#ifndef SMDEBUG_COMPILED\n.*?#endif" if compiled else r"#ifdef SMDEBUG_COMPILED\n.*?#(?:else|endif)"
        for included in re.findall(r"#include <(smdebug/[^>]+)>", re.sub(other, "", text, flags=re.S)):
            reached(root, included, compiled, seen)
    return seen


# Public members that may name types of a namespace detail, by class and member, and why.
MAY_SHOW_DETAIL = {
    ("tensorboard_writer", "add_scalar"): "the writer behind a hook, which has the stamp of each record",
    ("tensorboard_writer", "add_histogram"): "the writer behind a hook, which has the stamp of each record",
    ("dispatched_kernel", "dispatched_kernel"): "constructed by smdebug::kernels and by tests; users ask available() or named()",
    ("dispatched_kernel", "reduce_fed"): "asked of this library's kernels, not of the concept reduction_kernel",
    ("simd_kernel", "reduce_fed"): "asked of this library's kernels, not of the concept reduction_kernel",
    ("event_decoder", "plan"): "asked of this library's decoder, not of the concept tensor_decoder",
    ("default_credentials", "default_credentials"): "its second argument, with a default, is for tests",
    ("torch_watch", "torch_watch"): "its last argument, with a default, is for tests without a device",
}
# What a rule knows of earlier steps: a rule is an aggregate, so that users name its settings, and has no private members.
STATE_OF_RULES = {"so_far", "shared"}


def details_in_public(root):
    """A sentence for each public member that shows a detail type and is not excepted, and each exception that is not needed."""
    top, headers = headers_of(root)
    needed = set()
    for header in headers:
        for name, shown in shown_details(code_of(text_of(os.path.join(top, header)))):
            member = re.search(r"(\w+)\s*\(|(\w+)\s*$", shown)
            member = member[1] or member[2]
            if (name, member) in MAY_SHOW_DETAIL:
                needed.add((name, member))
            elif not (header.startswith("rules/built_in/") and member in STATE_OF_RULES):
                yield f"<smdebug/{header}>: {name} shows users a type of a namespace detail: {shown}"
    for name, member in sorted(MAY_SHOW_DETAIL.keys() - needed):
        yield f"tests/headers.py: {name}::{member} shows no type of a namespace detail any more: take it off MAY_SHOW_DETAIL"


def not_named(root, path):
    """A sentence for each public function of the umbrella that a file does not name, and each type that one form lacks."""
    umbrella = "smdebug/smdebug.hpp"
    named = set(re.findall(r"\w+", code_of(text_of(path))))
    included = re.compile(r"#include <(smdebug/[^>]+)>")
    doors = [door for door in included.findall(text_of(path)) if door != umbrella]
    everyday = included.findall(text_of(os.path.join(root, "include", umbrella)))
    for header in (*everyday, *doors, *BEHIND):
        for name in sorted(functions(code_of(text_of(os.path.join(root, "include", header)))) - named - PLUMBING):
            yield f"{path} does not call {name} of <{header}>"
    header_only = reached(root, umbrella, False, set())
    for door in (umbrella, *doors):
        header_only -= reached(root, door, True, set())
    for header, names in public_types(root).items():
        if "smdebug/" + header in header_only:
            yield f"<{umbrella}> has {' '.join(names)} header-only, and not in the compiled form: include <smdebug/{header}> there"


def main():
    if sys.argv[2:3] == ["--hides-detail"]:
        sys.exit("\n".join(details_in_public(sys.argv[1])) or 0)
    if sys.argv[2:3] == ["--named-in"]:
        missing = list(not_named(sys.argv[1], sys.argv[3]))
        sys.exit("\n".join(missing) or 0)
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
