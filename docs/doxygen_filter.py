#!/usr/bin/env python3
"""doxygen_filter.py FILE: a Markdown page as Doxygen wants it, on standard output.

Doxygen names headings by labels of their own, and knows the pages that docs/Doxyfile gives it only: headings get labels made of page and
heading, links lead to these, and links to other files are their words."""
import html
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def pages():
    """The pages that docs/Doxyfile names, from the root."""
    given = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md", "tests/README.md", "tests/fuzz/README.md",
             "tests/data/golden/decisions.md", "report/README.md"]
    for folder, _, files in os.walk(os.path.join(ROOT, "docs")):
        given += [os.path.relpath(os.path.join(folder, each), ROOT) for each in files if each.endswith(".md")]
    return given


def label(page, anchor=""):
    """What a page, or a heading of it, is called: with letters, digits and _ only.  Doxygen calls the first page index."""
    if page == "README.md" and not anchor:
        return "index"
    return "page_" + re.sub(r"\W", "_", os.path.splitext(page)[0] + ("__" + anchor if anchor else ""))


def slug(heading):
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def filtered(page, text):
    known, seen, out, fenced, titled = pages(), {}, [], False, False

    def link(found):
        words, target = found[1], found[2]
        if re.match(r"[a-z]+:", target):
            return found[0]
        path, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if found[0].startswith("!"):
            return f"![{words}]({os.path.basename(path)})"
        if full not in known:
            return words
        plain = words.replace("`", "").replace('"', "'")
        return f'@ref {label(full, anchor)} "{plain}"'

    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
            line = {"```console": "```{.unparsed}", "```text": "```{.unparsed}", "```sh": "```{.sh}", "```sql": "```{.sql}",
                    "```json": "```{.js}", "```cmake": "```{.unparsed}", "```cpp": "```{.cpp}", "```python": "```{.py}"}.get(line, line)
        elif not fenced:
            heading = re.match(r"(#{1,4}) +(.*)", line)
            if heading:
                name = slug(heading[2])
                count = seen.get(name, 0)
                seen[name] = count + 1
                name += f"-{count}" if count else ""
                words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[2]).replace("`", "")
                line = f"{heading[1][1:]} {words} {{#{label(page, name)}}}" if titled else f"@page {label(page)} {words}"
                line = f"@mainpage {words}" if not titled and page == "README.md" else line
                titled = True
            else:
                line = re.sub(r"!?\[([^]]*)\]\(([^)\s]+)\)", link, line)
                line = re.sub(r"`(</[^`]*)`", lambda code: f"<tt>{html.escape(code[1])}</tt>", line)  # which Doxygen takes for a tag
        out.append(line)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    path = os.path.abspath(sys.argv[1])
    with open(path, encoding="utf-8") as file:
        sys.stdout.write(filtered(os.path.relpath(path, ROOT), file.read()))
