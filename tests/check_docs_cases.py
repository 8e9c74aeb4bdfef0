"""The self-test of check_docs.py: two pages without an error, and replacements that each make one."""

GOOD = """# A page
See [below](#two-words-a_b), [the other](docs/README.md#other), `b.hpp`, `<smdebug/b.hpp>`.
```sh
./examples/quickstart.sh  # the main job
./tests/run.sh
```
<!-- of: source.txt -->
```cpp
one
...
  three
```
<!-- cpp
int before = 1;
-->
```cpp
#include <vector>  // hoisted
std::vector<int> all{before};
```
```cpp
template <class T> struct box {};
int main() {}
```
<!-- run -->
```cpp
int again = 1;
```
<!-- printed -->
```text
four
...
six
```
<!-- calls in column 2 -->
| a | b |
|---|---|
| x | `1 + 1`, `int y = 2;` |
## Two `words`: a_b
```console
$ printf 'a\\nb\\nc 12 s\\n'
a
...
c ... s
$ false  # exit status 1
```
```sh
echo x
```
"""
OTHER = "# Other\n```json\n{}\n```\n"
# The replaced text, its replacement, the check that must fail, and a part of its message.
CASES = [
    ("", "", None, ""),
    ("(#two-words-a_b)", "(#two-words)", "links", "README.md:2: README.md has no heading for #two-words"),
    ("docs/README.md#other", "docs/none.md", "links", "README.md:2: docs/none.md leads nowhere"),
    ("docs/README.md#other", "docs/README.md#others", "links", "no heading for #others"),
    ("See ", "S" * 141 + " ", "links", "more than 140"),
    ("\n./examples/quickstart.sh", "\n./quickstart.sh", "links", "README.md's first 30 lines lack ./examples/quickstart.sh"),
    ("\n./tests/run.sh", "", "links", "README.md's first 30 lines lack ./tests/run.sh"),
    ("./tests/run.sh", "./tests/run.sh.old", "links", "README.md's first 30 lines lack ./tests/run.sh"),
    ("# A page\n", "# A page\n" + 26 * "\n", "links", "README.md's first 30 lines lack ./tests/run.sh"),
    ("# A page\n", "# A page\n" + 25 * "\n", "links", ""),
    ("  three\n", "  four\n", "links", "README.md:8: does not stand in source.txt"),
    ("```sh\necho x", "```sh\necho 'x", "links", "no shell script"),
    ("```sh\n", "```\n", "links", "a block of ''"),
    ("{}", "{", "links", "no json"),
    ("See ", "`a/b.hpp` ", "links", "README.md:2: there is no a/b.hpp"),
    ("See ", "`a/b.ipp` ", "links", "README.md:2: there is no a/b.ipp"),
    ("See ", "`c.hpp` ", "links", "README.md:2: there is no c.hpp"),
    ("`<smdebug/b.hpp>`", "`<smdebug/c.ipp>`", "links", "README.md:2: there is no c.ipp"),
    ("# Other", "# Other\n| a |\n|---|\n| `c.hpp` |", "links", "docs/README.md:4: there is no c.hpp"),
    ("{before}", "{after}", "compile", "README.md:18"),
    ("int main() {}", "int main() { return x; }", "compile", "README.md:22"),
    ("`1 + 1`", "`1 + z`", "compile", "README.md:37"),
    ("\nc ... s", "\nd ... s", "run", "README.md:39: $ printf"),
    ("\na\n...", "\n...\nb", "run", ""),
    ("\na\n...\n", "\na\n", "run", "README.md:39: $ printf"),
    ("$ false  # exit status 1", "$ false", "run", "exit status 1"),
    ("```console\n$ printf", "```console\nx\n$ printf", "run", "begins with '$ command'"),
    ("exit 0", "exit 1", "run", "README.md: its C++ ends with status 1"),
    ("four\\nfive", "five\\nfour", "run", ""),
    ("four\\nfive\\nsix", "six\\nfive\\nfour", "run", "README.md: its C++ does not print"),
    ("echo x", "smdebug ls --no-such RUN", "run", "smdebug ls has no option --no-such"),
    ("echo x", "smdebug ls --such RUN 'a --b' | x --other", "run", ""),
]
