// The bodies of <smdebug/storage/uri.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>

namespace smdebug::inline v1::detail {

inline constexpr std::string_view file_scheme = "file://";

SMDEBUG_INLINE bool is_in_s3(std::string_view path) {
    if (path.empty() || path == file_scheme) {
        throw value_error("the path of a run is empty: is a variable unset?");
    }
    if (path.starts_with("s3://")) {
        return true;
    }
    // An address of another kind, or a misspelt one, would become a folder of that name.
    const std::string_view scheme = path.substr(0, path.find_first_of(":/"));
    const std::string_view rest = path.substr(scheme.size());
    const bool is_address = rest.starts_with("://") || (rest.starts_with(":") && (scheme == "s3" || scheme == "file"));
    if (is_address && !path.starts_with(file_scheme)) {
        throw value_error(
            "\"" + std::string{path} +
                "\" is not a path of a run: a folder is written as its path or as file:///folder, a run in "
                "S3 as s3://bucket/prefix",
            {.where = std::string{path}});
    }
    return false;
}

/// Without "file://", and with the home folder in place of "~".
[[nodiscard]] inline std::string expanded(std::string_view path) {
    if (path.starts_with(file_scheme)) {
        path.remove_prefix(file_scheme.size());
    }
    std::string folder{path};
    if (path == "~" || path.starts_with("~/")) {
        const char* const home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
        if (home == nullptr || *home == '\0') {
            throw value_error("which folder is " + folder + "? HOME is not set", {.where = std::string{path}});
        }
        folder.replace(0, 1, home);
    }
    return folder;
}

/// That of the endings which a path has; empty if it has none.
[[nodiscard]] inline std::string_view ending_among(std::span<const std::string_view> endings,
                                                   std::string_view path) noexcept {
    const auto ending =
        std::find_if(endings.begin(), endings.end(), [&](std::string_view each) { return path.ends_with(each); });
    return ending == endings.end() ? std::string_view{} : *ending;
}

SMDEBUG_INLINE std::string_view archive_extension_of(std::string_view path) noexcept {
    constexpr std::array<std::string_view, 6> endings{".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".zip"};
    return ending_among(endings, path);
}

[[nodiscard]] inline archive_path parts_of(std::string_view archive, std::string_view inside) {
    const std::size_t slash = archive.rfind('/');
    std::string_view folder = slash == std::string_view::npos ? "." : archive.substr(0, slash);
    if (folder.empty()) {
        folder = "/";
    }
    return {.folder = std::string{folder},
            .key = std::string{slash == std::string_view::npos ? archive : archive.substr(slash + 1)},
            .inside = std::string{inside},
            .is_named_so = !archive_extension_of(archive).empty()};
}

SMDEBUG_INLINE std::optional<std::string_view> ended_job_of(std::string_view key) noexcept {
    constexpr std::string_view mark = "training_job_end.ts";
    if (!key.ends_with(mark) || (key.size() > mark.size() && key[key.size() - mark.size() - 1] != '/')) {
        return std::nullopt;
    }
    const std::string_view folder = key.substr(0, key.size() - std::min(key.size(), mark.size() + 1));
    const std::string_view name = folder.substr(folder.rfind('/') + 1);
    return name == "framework" || name == "system" ? std::nullopt : std::optional{folder};
}

SMDEBUG_INLINE std::string_view data_ending_of(std::string_view path) noexcept {
    constexpr std::array<std::string_view, 8> endings{".safetensors", ".npz", ".npy",  ".pt",
                                                      ".pth",         ".bin", ".ckpt", ".pkl"};
    return ending_among(endings, path);
}

SMDEBUG_INLINE bool is_data_file(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    return !data_ending_of(name).empty() ||
           (name.find("tfevents") != std::string_view::npos && !name.ends_with(".tfevents"));
}

SMDEBUG_INLINE std::optional<other_form> other_form_of(std::string_view path) noexcept {
    using kind = other_form::kind;
    // An ending that itself ends in a mark may stand anywhere in the path; one that begins with '/' begins a name.
    constexpr other_form forms[] = {
        {".incomplete .tmp .part .partial .crdownload .orbax-checkpoint-tmp-", "a file that was not written to its end",
         "copying, downloading or saving it again", kind::unfinished},
        {".joblib .pickle", "pickled by Python: a program, which is not run",
         "joblib.load or pickle.load, and numpy.savez", kind::pickled},
        {".pdparams .pdopt .pdiparams", "a checkpoint of Paddle", "paddle.load, and numpy.savez of each numpy()"},
        {".h5 .hdf5 .keras", "HDF5, as Keras writes it", "keras.models.load_model or h5py.File, and numpy.savez"},
        {".msgpack", "msgpack, as Flax writes it", "flax.serialization.msgpack_restore, and numpy.savez"},
        {".distcp", "a part of a checkpoint of torch.distributed whose .metadata is missing", "saving it again"},
        {"/saved_model.pb", "a SavedModel of TensorFlow", "tf.saved_model.load, and numpy.savez of its variables"},
        {".index .data- /checkpoint", "a checkpoint of TensorFlow",
         "tf.train.load_checkpoint, and numpy.savez of each get_tensor"},
        {".gguf", "GGUF, as llama.cpp reads it", "gguf.GGUFReader, and numpy.savez of each tensor's data"},
        {".onnx", "ONNX", "onnx.numpy_helper.to_array of each initializer, and numpy.savez"},
        {".tflite", "a model of TensorFlow Lite", "tf.lite.Interpreter, and numpy.savez of each get_tensor"},
        {"/_METADATA /_CHECKPOINT_METADATA /manifest.ocdbt /ocdbt.process_", "a checkpoint of Orbax",
         "orbax.checkpoint.PyTreeCheckpointer().restore, and numpy.savez"},
        {".zarr/ /.zarray /zarr.json", "arrays of Zarr", "zarr.open, and numpy.savez of each"},
        {"/vdlrecords.", "a log of VisualDL", "visualdl.LogReader, and SummaryWriter of tensorboardX"},
    };
    for (const other_form& form : is_resource_fork(path) ? std::span<const other_form>{} : std::span{forms}) {
        for (std::string_view rest = form.ending; !rest.empty();) {
            const std::string_view ending = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(ending.size() + 1, rest.size()));
            const std::string_view first = ending.substr(ending.starts_with('/') ? 1 : 0);  // of the whole path
            const bool is_part = std::string_view{"/-_."}.find(ending.back()) != std::string_view::npos;
            if (path.ends_with(ending) || (is_part && path.find(ending) != std::string_view::npos) ||
                (first != ending && (is_part ? path.starts_with(first) : path == first))) {
                return other_form{ending, form.what, form.how, form.is};
            }
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::optional<archive_path> archive_in(std::string_view path) {
    const bool far = is_in_s3(path);
    std::string whole = far ? std::string{path} : expanded(path);
    while (whole.size() > 1 && whole.ends_with('/')) {
        whole.pop_back();
    }
    if (!far && posix::open_folder(whole)) {
        return std::nullopt;
    }
    const auto is_file = [](const std::string& name) { return posix::facts_of(name).has_value(); };
    for (std::size_t mark = whole.find('!'); mark != std::string::npos; mark = whole.find('!', mark + 1)) {
        const std::string before = whole.substr(0, mark);
        const bool is_mark = mark + 1 == whole.size() || whole[mark + 1] == '/';
        if (is_mark && (!archive_extension_of(before).empty() || (!far && is_file(before)))) {
            return parts_of(before, std::string_view{whole}.substr(std::min(mark + 2, whole.size())));
        }
    }
    if (!archive_extension_of(whole).empty() || (!far && !is_data_file(whole) && is_file(whole))) {
        return parts_of(whole, {});
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::string local_path(std::string_view path) {
    const error_context context{.where = std::string{path}};
    if (is_in_s3(path)) {
        throw unsupported(std::string{path} +
                              " is in S3, where a local_storage does not reach: open it by smdebug::create_trial or "
                              "write it by smdebug::hook",
                          context);
    }
    std::string folder = expanded(path);
    if (!archive_extension_of(folder).empty() && !posix::open_folder(folder)) {
        throw unsupported(folder +
                              " is the name of an archive, which smdebug::create_trial opens and no hook writes: give "
                              "the path of a folder",
                          context);
    }
    return folder;
}

}  // namespace smdebug::inline v1::detail
