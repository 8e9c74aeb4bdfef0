"""Conan 2 recipe of the tree that contains it:  conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir


class SmdebugConan(ConanFile):
    name = "smdebug"
    description = "Reads and writes training runs of SageMaker Debugger's Python package smdebug: C++20, header-only"
    license = "Apache-2.0"
    topics = ("machine-learning", "sagemaker", "debugging")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "s3": [True, False], "archive": [True, False],
               "kernels": [True, False], "compiled": [True, False]}
    default_options = {"shared": False, "fPIC": True, "s3": True, "archive": True, "kernels": True,
                       "compiled": False}

    @property
    def _components(self):
        return [name for name in ("s3", "archive") if getattr(self.options, name)]

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "../../include/smdebug/core/version.hpp"))
        self.version = ".".join(re.search(rf"SMDEBUG_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "../..")
        for pattern in ("CMakeLists.txt", "LICENSE", "NOTICE", "include/*", "src/*", "cmake/*", "examples/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def configure(self):
        if not self.options.compiled:
            self.options.rm_safe("shared")  # there is nothing that could be
        if not self.options.compiled or self.options.get_safe("shared"):
            self.options.rm_safe("fPIC")

    def requirements(self):
        # The headers of these are included by ours; versions: cmake/smdebug-versions.cmake.
        self.requires("xtl/[>=0.7.2 <1]", transitive_headers=True)
        self.requires("xsimd/[>=8.1 <15]", transitive_headers=True)
        self.requires("xtensor/[>=0.24.3 <0.28]", transitive_headers=True)
        self.requires("simdjson/[>=3.0.1 <5]", transitive_headers=True, transitive_libs=True)
        self.requires("pcre2/[>=10.42 <11]", transitive_headers=True, transitive_libs=True)
        if self.options.s3:
            self.requires("libcurl/[>=7.87 <9]", transitive_headers=True, transitive_libs=True)
            self.requires("openssl/[>=3 <4]", transitive_headers=True, transitive_libs=True)
            self.requires("pugixml/[>=1.13 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.archive:
            self.requires("zlib/[>=1.2.11 <2]", transitive_headers=True, transitive_libs=True)
            self.requires("zstd/[>=1.5 <1.6]", transitive_headers=True, transitive_libs=True)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("smdebug is for 64-bit little-endian Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("s3", "archive", "kernels", "compiled"):
            toolchain.cache_variables["SMDEBUG_BUILD_" + option.upper()] = bool(getattr(self.options, option))
        toolchain.cache_variables["SMDEBUG_BUILD_PROGRAM"] = False
        toolchain.cache_variables["SMDEBUG_BUILD_MPI"] = "OFF"
        toolchain.cache_variables["SMDEBUG_WARNINGS_ARE_ERRORS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "NOTICE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these itself, from package_info().
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "smdebug")
        third_parties = {"s3": ["libcurl::libcurl", "openssl::crypto", "pugixml::pugixml"],
                         "archive": ["zlib::zlib", "zstd::zstd"]}

        def component(name, requires, libs=(), defines=()):
            info = self.cpp_info.components[name]
            info.set_property("cmake_target_name", "smdebug::" + name)
            info.set_property("pkg_config_name", "smdebug" if name == "smdebug" else "smdebug-" + name.replace("_", "-"))
            info.requires, info.libs, info.defines = list(requires), list(libs), list(defines)
            if not libs:
                info.libdirs = []
            return info

        component("smdebug", ["xtl::xtl", "xsimd::xsimd", "xtensor::xtensor", "simdjson::simdjson", "pcre2::pcre2-8"]
                  ).system_libs = ["pthread"]
        for name in self._components:
            component(name, ["smdebug"] + third_parties[name])
        if self.options.kernels or self.options.compiled:
            component("kernels", ["smdebug"], ["smdebug_kernels"])
        if self.options.compiled:
            component("compiled", ["kernels"], ["smdebug_compiled"], ["SMDEBUG_COMPILED"])
            for name in self._components:
                component("compiled_" + name, ["compiled", name], ["smdebug_compiled_" + name])
