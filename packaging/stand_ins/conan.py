"""Plays the part of Conan 2 for packaging/conan:  conan.py RECIPE FOLDER [OPTION=True ...] prints the flags of its package.
conan.py --component NAME: of which component (default: smdebug).

Modules of Conan's names, from their documentation, hold what the recipe uses and no more; the recipe's steps are run in Conan's
order with the machine's third parties: FOLDER/package is the package.  The flags that are printed are those of package_info(),
with third parties by pkg-config, so that a recipe that forgets one fails.
"""
import importlib.util
import os
import shutil
import subprocess
import sys
import types
from fnmatch import fnmatch

# What recipes call a third party's library, and its .pc file here.
PKG_CONFIG = {"xtl::xtl": "xtl", "xsimd::xsimd": "xsimd", "xtensor::xtensor": "xtensor", "simdjson::simdjson": "simdjson",
              "pcre2::pcre2-8": "libpcre2-8", "libcurl::libcurl": "libcurl", "openssl::crypto": "libcrypto",
              "pugixml::pugixml": "pugixml", "zlib::zlib": "zlib", "zstd::zstd": "libzstd", "sqlite3::sqlite3": "sqlite3"}


class Options:
    """Of a recipe: values by name; one that was removed is an error."""
    def __init__(self, allowed, values):
        for name, value in values.items():
            if value not in allowed[name]:
                sys.exit(f"option {name}={value}: not one of {allowed[name]}")
            setattr(self, name, value)

    def rm_safe(self, name):
        self.__dict__.pop(name, None)

    def get_safe(self, name, default=None):
        return self.__dict__.get(name, default)


class Info:
    """cpp_info, and each of its components."""
    def __init__(self):
        self.components, self.properties = {}, {}
        self.requires, self.libs, self.defines, self.system_libs = [], [], [], []
        self.includedirs, self.libdirs = ["include"], ["lib"]

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = Info()
        return self[name]


class ConanFile:
    def requires(self, reference, **traits):
        name, wanted = reference.split("/", 1)
        if not (wanted.startswith("[>=") and wanted.endswith("]")):
            sys.exit(f"{reference}: no range of versions")
        self.required.append(name)


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.cache_variables = self.cache_variables


class CMakeDeps:
    def __init__(self, recipe):
        pass

    def generate(self):
        pass


class CMake:
    def __init__(self, recipe):
        self.recipe = recipe

    @staticmethod
    def call(*arguments):
        subprocess.run(["cmake", *arguments], check=True, stdout=subprocess.DEVNULL)

    def configure(self):
        recipe = self.recipe
        variables = {name: "ON" if value is True else "OFF" if value is False else value
                     for name, value in recipe.cache_variables.items()}
        variables |= {"CMAKE_BUILD_TYPE": recipe.settings.build_type, "CMAKE_INSTALL_PREFIX": recipe.package_folder,
                      "CMAKE_INSTALL_LIBDIR": "lib", "BUILD_SHARED_LIBS": "ON" if recipe.options.get_safe("shared") else "OFF"}
        self.call("-S", recipe.source_folder, "-B", recipe.build_folder, "-G", "Ninja",
                  *[f"-D{name}={value}" for name, value in variables.items()])

    def build(self):
        self.call("--build", self.recipe.build_folder, "-j", "2")

    def install(self):
        self.call("--install", self.recipe.build_folder)


def copy(_recipe, pattern, src, dst):
    """Files whose path below `src` fits; a star fits folders, too."""
    copied = 0
    for folder, folders, files in os.walk(src):
        folders[:] = [name for name in folders if name not in (".git", "build")]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), src)
            if fnmatch(path, pattern):
                os.makedirs(os.path.dirname(os.path.join(dst, path)), exist_ok=True)
                shutil.copy2(os.path.join(src, path), os.path.join(dst, path))
                copied += 1
    if not copied:
        sys.exit(f"copy: nothing in {src} is like {pattern}")


def load(_recipe, path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_min_cppstd(recipe, standard):
    if int(recipe.settings.compiler_cppstd) < standard:
        sys.exit(f"the recipe wants C++{standard}")


def cmake_layout(recipe):
    recipe.source_folder, recipe.build_folder = recipe.export_sources_folder, os.path.join(recipe.folder, "build")


def modules():
    conan = {"conan": {"ConanFile": ConanFile}, "conan.errors": {"ConanInvalidConfiguration": RuntimeError},
             "conan.tools": {}, "conan.tools.build": {"check_min_cppstd": check_min_cppstd},
             "conan.tools.cmake": {"CMake": CMake, "CMakeDeps": CMakeDeps, "CMakeToolchain": CMakeToolchain,
                                   "cmake_layout": cmake_layout},
             "conan.tools.files": {"copy": copy, "load": load,
                                   "rmdir": lambda _recipe, path: shutil.rmtree(path, ignore_errors=True)}}
    for name, content in conan.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        sys.modules[name] = module


def created(path, folder, chosen):
    """The recipe, after all its steps."""
    spec = importlib.util.spec_from_file_location("recipe", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kind = next(value for value in vars(module).values()
                if isinstance(value, type) and issubclass(value, ConanFile) and value is not ConanFile)
    recipe = kind()
    recipe.folder, recipe.recipe_folder = folder, os.path.dirname(os.path.abspath(path))
    recipe.export_sources_folder = os.path.join(folder, "sources")
    recipe.package_folder = os.path.join(folder, "package")
    recipe.settings = types.SimpleNamespace(os="Linux", arch={"aarch64": "armv8"}.get(os.uname().machine, os.uname().machine),
                                            build_type="Release", compiler="gcc", compiler_cppstd="20")
    recipe.options = Options(kind.options, {**kind.default_options, **chosen})
    recipe.required, recipe.cpp_info = [], Info()
    recipe.cpp_info.components = Components()
    for step in ("set_version", "export_sources", "config_options", "configure", "requirements", "validate", "layout", "generate",
                 "build", "package", "package_info"):
        if hasattr(recipe, step):
            getattr(recipe, step)()
    return recipe


def flags_of(recipe, wanted):
    """What a consumer of a component compiles and links with."""
    flags, order = [], []

    def visit(name):
        if name in order:
            return
        info = recipe.cpp_info.components.get(name)
        if info is None:
            sys.exit(f"package_info() has no component {name}; there are: {', '.join(recipe.cpp_info.components)}")
        order.append(name)
        for each in info.requires:
            if "::" not in each:
                visit(each)

    visit(wanted)
    third_parties = []
    for name in order:
        info = recipe.cpp_info.components[name]
        flags += [f"-D{define}" for define in info.defines]
        flags += [f"-I{recipe.package_folder}/{folder}" for folder in info.includedirs]
        flags += [f"-L{recipe.package_folder}/{folder}" for folder in info.libdirs]
        flags += [f"-l{library}" for library in info.libs]
        third_parties += [each for each in info.requires if "::" in each]
    for each in third_parties:
        if each.split("::")[0] not in recipe.required:
            sys.exit(f"package_info() names {each}, which requirements() does not require")
    flags += subprocess.run(["pkg-config", "--cflags", "--libs", *[PKG_CONFIG[each] for each in third_parties]], check=True,
                            capture_output=True, text=True).stdout.split()
    for name in order:
        flags += [f"-l{library}" for library in recipe.cpp_info.components[name].system_libs]
    for name, info in recipe.cpp_info.components.items():
        for library in info.libs:
            if not any(os.path.exists(f"{recipe.package_folder}/lib/lib{library}.{ending}") for ending in ("a", "so")):
                sys.exit(f"component {name}: there is no library {library} in the package")
    return flags


def main():
    arguments = sys.argv[1:]
    wanted = "smdebug"
    if arguments[:1] == ["--component"]:
        wanted, arguments = arguments[1], arguments[2:]
    path, folder = arguments[:2]
    chosen = {name: value == "True" for name, value in (each.split("=") for each in arguments[2:])}
    modules()
    print(" ".join(flags_of(created(path, os.path.abspath(folder), chosen), wanted)))


main()
