#!/usr/bin/env python3
"""The output of `smdebug export`, read by independent readers: numpy, a reader of the safetensors format, the csv
module, the reader of TensorBoard's files in hook/check_tensorboard.py; compared byte for byte with an independent
reader of runs.

check_exports.py PROGRAM GOLDEN FOLDER
  PROGRAM  the program smdebug
  GOLDEN   the recorded runs, tests/data/golden
  FOLDER   where exports are made; emptied first
Exit status 77 if numpy is not installed; 1 with a sentence for the first error."""
import csv
import glob
import io
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import urllib.parse
import zipfile

try:
    import numpy
except ImportError:
    print("check_exports.py: there is no numpy")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook"))
import check_tensorboard  # noqa: E402

csv.field_size_limit(1 << 30)
MODES = {"1": "TRAIN", "2": "EVAL", "3": "PREDICT", "4": "GLOBAL"}
# TensorFlow's number of a dtype: numpy's; bfloat16 stays two bytes.
DTYPES = {1: "<f4", 2: "<f8", 3: "<i4", 4: "|u1", 5: "<i2", 6: "|i1", 8: "<c8", 9: "<i8", 10: "|b1", 14: "bfloat16", 17: "<u2",
          18: "<c16", 19: "<f2", 22: "<u4", 23: "<u8"}
SAFETENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "bfloat16", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
               "U8": "|u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "BOOL": "|b1"}
REDUCTIONS = "smdebug/reductions/"


def fail(text):
    sys.exit(f"check_exports.py: {text}")


def require(condition, text):
    if not condition:
        fail(text)


# --- protobuf and runs, by their public formats ------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field; length-delimited and fixed ones as bytes, varints as integers."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if kind == 1 else (4, at) if kind == 5 else varint(data, at)
            value = data[at:at + size]
            require(len(value) == size, "a protobuf field that is cut")
            at += size
        yield tag >> 3, value


class Tensor:
    """dtype (numpy's name, "bfloat16" or "string"), shape, and bytes, or a list of strings."""

    def __init__(self, message):
        self.dtype, self.shape, self.data, self.strings = "string", (), b"", []
        for number, value in fields(message):
            if number == 1 and value != 7:
                self.dtype = DTYPES[value]
            elif number == 2:
                self.shape = tuple(next((n for k, n in fields(dim) if k == 1), 0) for k, dim in fields(value) if k == 2)
            elif number == 4:
                self.data = value
            elif number == 8:
                self.strings.append(value)
            elif number != 3:
                fail(f"a tensor with field {number}")
        require(math.prod(self.shape) * self.size() == len(self.data), "a tensor of another size than its shape")

    def size(self):
        return 0 if self.dtype == "string" else 2 if self.dtype == "bfloat16" else numpy.dtype(self.dtype).itemsize


def record_at(data, offset, length):
    require(struct.unpack_from("<Q", data, offset)[0] == length - 16, "an index entry that is no record")
    return data[offset + 12:offset + length - 4]


def read_run(folder):
    """{(step, worker): (mode, mode step, {name: Tensor})} without saved reductions, and those: {name: value}."""
    steps = {}
    for path in glob.glob(os.path.join(glob.escape(folder), "index", "*", "*.json")):
        step, _, worker = os.path.basename(path)[:-len(".json")].partition("_")
        with open(path, encoding="utf-8") as file:
            index = json.load(file)
        with open(os.path.join(folder, index["meta"]["event_file_name"]), "rb") as file:
            events = file.read()
        tensors, reductions, times = {}, {}, {}
        for entry in index["tensor_payload"]:
            name = entry["tensorname"]
            event = dict(fields(record_at(events, entry["start_idx"], entry["length"])))
            value = dict(fields(dict(fields(event[5]))[1]))
            require(value[1].decode() == name, f"{path}: a record of {value[1]} at the place of {name}")
            tensor = Tensor(value[8])
            times[name] = event.get(1)
            if name.startswith(REDUCTIONS):
                require(tensor.shape in ((), (1,)), f"{path}: a reduction of a shape")
                reductions[name] = float(numpy.frombuffer(tensor.data, tensor.dtype)[0])
            else:
                tensors[name] = tensor
        meta = index["meta"]
        steps[int(step), worker] = meta["mode"], meta["mode_step"], tensors, reductions, times
    require(steps, f"{folder}: no steps")
    return steps


# --- formats -----------------------------------------------------------------------------------------------------------


def name_of(step, worker, several, extension):
    return f"step_{step:09}" + (f"_{worker}" if several else "") + extension


def as_numpy(tensor):
    """The bytes of numpy's .npy file for it."""
    if tensor.dtype == "string":
        array = numpy.array(tensor.strings, dtype="S") if tensor.strings else numpy.array([], dtype="S1")
        array = array.reshape(tensor.shape or (len(tensor.strings),))
    elif tensor.dtype == "bfloat16":
        array = (numpy.frombuffer(tensor.data, "<u2").astype("<u4") << 16).view("<f4").reshape(tensor.shape)
    else:
        array = numpy.frombuffer(tensor.data, tensor.dtype).reshape(tensor.shape)
    out = io.BytesIO()
    numpy.lib.format.write_array(out, array)
    return out.getvalue(), array


def check_npz(run, folder):
    several = len({worker for _, worker in run}) > 1
    count = 0
    with_values = {key: value for key, value in run.items() if value[2]}
    require(sorted(os.listdir(folder)) == sorted(name_of(*key, several, ".npz") for key in with_values), f"{folder}: other files")
    for key, (_, _, tensors, _, _) in with_values.items():
        path = os.path.join(folder, name_of(*key, several, ".npz"))
        with zipfile.ZipFile(path) as archive, numpy.load(path, allow_pickle=False) as arrays:
            require(archive.testzip() is None, f"{path}: a checksum that is wrong")
            require(all(each.compress_type == zipfile.ZIP_STORED for each in archive.infolist()), f"{path}: compressed")
            names = {urllib.parse.unquote_to_bytes(name).decode(): name for name in arrays.files}
            require(set(names) == set(tensors), f"{path}: {set(names)}, not {set(tensors)}")
            for name, tensor in tensors.items():
                raw, array = as_numpy(tensor)
                require(archive.read(names[name] + ".npy") == raw, f"{path}: the bytes of {name} are not numpy's")
                loaded = arrays[names[name]]
                require(loaded.dtype == array.dtype and loaded.shape == array.shape and loaded.tobytes() == array.tobytes(),
                        f"{path}: {name} is loaded as another array")
                count += 1
    return count


def read_safetensors(path):
    """By the published format, with the requirements of its reference implementation."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<Q", data)[0]
    require(length <= 100_000_000 and 8 + length <= len(data), f"{path}: the length of the header")
    text = data[8:8 + length].decode("utf-8")
    require(text.startswith("{"), f"{path}: the header does not begin with a brace")
    pairs = json.loads(text, object_pairs_hook=list)
    require(len({name for name, _ in pairs}) == len(pairs), f"{path}: a name twice")
    header = {name: dict(value) for name, value in pairs}
    metadata = header.pop("__metadata__")
    require(all(isinstance(value, str) for value in metadata.values()), f"{path}: metadata that are no strings")
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        require(set(entry) == {"dtype", "shape", "data_offsets"}, f"{path}: {name} has other keys")
        begin, last = entry["data_offsets"]
        size = 2 if entry["dtype"] == "BF16" else numpy.dtype(SAFETENSORS[entry["dtype"]]).itemsize
        require(begin == end and last - begin == size * math.prod(entry["shape"]), f"{path}: the place of {name}")
        end = last
    require(end == len(data) - 8 - length, f"{path}: bytes that no entry covers")
    body = data[8 + length:]
    return metadata, {name: (SAFETENSORS[entry["dtype"]], tuple(entry["shape"]), body[slice(*entry["data_offsets"])])
                      for name, entry in header.items()}


def check_safetensors(run, folder):
    several = len({worker for _, worker in run}) > 1
    count = 0
    for key, (mode, mode_step, tensors, _, _) in run.items():
        wanted = {name: (each.dtype, each.shape, each.data) for name, each in tensors.items()
                  if each.dtype not in ("string", "<c8", "<c16")}
        path = os.path.join(folder, name_of(*key, several, ".safetensors"))
        require(os.path.exists(path) == bool(wanted), f"{path}: is it there?")
        if wanted:
            metadata, found = read_safetensors(path)
            require(found == wanted, f"{path}: other tensors")
            require(metadata["step"] == str(key[0]) and metadata["mode"] == mode and metadata["mode_step"] == str(mode_step),
                    f"{path}: other metadata: {metadata}")
            count += len(found)
    return count


def check_csv(run, path):
    elements = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            worker = row["worker"]
            if worker.startswith("/") and "/replica:" in worker:  # as in TensorFlow's file names
                worker = worker.replace("/", "_").replace(":", "-")
            key = int(row["step"]), worker
            require((row["mode"], int(row["mode_step"])) == run[key][:2], f"{path}: the mode of step {key}")
            elements.setdefault((key, row["tensor"]), []).append((row["index"], row["value"]))
    wanted = {(key, name): tensor for key, value in run.items() for name, tensor in value[2].items() if math.prod(tensor.shape or (1,))}
    require(set(elements) == set(wanted), f"{path}: other tensors: {set(elements) ^ set(wanted)}")
    for key, tensor in wanted.items():
        rows = elements[key]
        indices = [" ".join(map(str, index)) for index in numpy.ndindex(*tensor.shape)]
        require([index for index, _ in rows] == indices, f"{path}: the indices of {key}")
        texts = [text for _, text in rows]
        if tensor.dtype == "string":
            require([text.encode() for text in texts] == tensor.strings, f"{path}: {key}")
        elif tensor.dtype in ("<c8", "<c16"):
            found = numpy.array([complex(text) for text in texts], tensor.dtype)
            require(numpy.array_equal(found, numpy.frombuffer(tensor.data, tensor.dtype), equal_nan=True), f"{path}: {key}")
        else:
            _, array = as_numpy(tensor)
            if array.dtype.kind == "f":
                found = numpy.array([float(text) for text in texts]).astype(array.dtype)
            else:
                found = numpy.array([int(text) for text in texts], array.dtype)
            require(numpy.array_equal(found, array.ravel(), equal_nan=array.dtype.kind == "f"), f"{path}: {key}")
    return len(wanted)


def is_drawn(tensor):
    """Whether there are finite numbers, all within the range of float32."""
    if not tensor.data or tensor.dtype in ("|b1", "<c8", "<c16"):
        return False
    array = as_numpy(tensor)[1].astype("<f8")
    finite = array[numpy.isfinite(array)]
    return finite.size > 0 and abs(finite).max() <= numpy.finfo("<f4").max


def check_tensorboard_files(run, folder):
    several = len({worker for _, worker in run}) > 1
    steps = [(worker, mode, mode_step) for (_, worker), (mode, mode_step, *_) in run.items()]
    runs = check_tensorboard.read_folder(folder, may_repeat=len(set(steps)) < len(steps))
    folders = {"TRAIN": "train", "EVAL": "validation", "PREDICT": "predict", "GLOBAL": "global"}
    count = 0
    for (step, worker), (mode, mode_step, tensors, _, _) in run.items():
        at = os.path.join(worker, folders[mode]) if several else folders[mode]
        for name, tensor in tensors.items():
            single = math.prod(tensor.shape) == 1 and tensor.dtype not in ("string", "<c8", "<c16")
            shape = "scalar" if single else "histogram"
            if single or is_drawn(tensor):
                tags = runs[at].points[shape]
                tag = "".join(c if c.isalnum() or c in "-_./" else "_" for c in name).lstrip("/")
                require(mode_step in tags.get(tag, ()), f"{folder}: no {shape} {tag} at step {step}, {mode} {mode_step}")
                count += 1
    return count


def check_run(run, folder):
    made = read_run(folder)
    require(set(made) == {key for key, value in run.items() if value[2] or value[3]}, f"{folder}: other steps")
    for key, (mode, mode_step, tensors, reductions, times) in made.items():
        source = run[key]
        require((mode, mode_step) == source[:2] and set(tensors) == set(source[2]), f"{folder}: step {key}")
        for name, tensor in tensors.items():
            require(vars(tensor) == vars(source[2][name]), f"{folder}: {name} at step {key}")
            require(times[name] == source[4][name], f"{folder}: the time of {name} at step {key}")
        require(set(reductions) == set(source[3]), f"{folder}: the reductions of step {key}")
        for name, value in reductions.items():
            # Trials read them as numbers: -0.0 as 0.
            require(value == source[3][name] or value != value and source[3][name] != source[3][name], f"{folder}: {name} at step {key}")
    require(os.path.exists(os.path.join(folder, "training_job_end.ts")), f"{folder}: no end of the job")
    return sum(len(value[2]) for value in made.values())


# --- the checks --------------------------------------------------------------------------------------------------------


def smdebug(program, *arguments, status=0):
    done = subprocess.run([program, *arguments], capture_output=True, check=False, timeout=300)
    require(done.returncode == status, f"{' '.join(arguments)}: status {done.returncode}, not {status}: {done.stderr.decode()}")
    return done.stdout.decode()


def check_golden(program, path, out):
    """Exports a recorded run in every format; returns the number of tensors in each."""
    run = read_run(path)
    os.makedirs(out)

    def export(to, name, *more, may_refuse=False):
        target = os.path.join(out, name)
        command = [program, "export", path, "--to", to, "-o", target, *more]
        done = subprocess.run(command, capture_output=True, check=False, timeout=300)
        text = done.stderr.decode()
        require(done.returncode == 0 or (may_refuse and "left out at step" in text), f"{' '.join(command)}: {text}")
        return target

    counts = []
    if any(value[2] for value in run.values()):
        counts.append(check_npz(run, export("npz", "npz")))
        counts.append(check_safetensors(run, export("safetensors", "safetensors", may_refuse=True)))
        counts.append(check_csv(run, export("csv", "values.csv", "--values")))
        counts.append(check_tensorboard_files(run, export("tensorboard", "tensorboard", may_refuse=True)))
    counts.append(check_run(run, export("smdebug", "smdebug")))
    smdebug(program, "ls", os.path.join(out, "smdebug"), "--verify")
    with open(export("csv", "stats.csv"), newline="", encoding="utf-8") as file:
        require(file.read() == smdebug(program, "stats", path, "--format", "csv"), f"{path}: csv is not what stats says")
    return counts


def check_stack(program, path, out):
    """One tensor over its steps, as one array."""
    run = read_run(path)
    first = min(run)
    name = next(iter(run[first][2]))
    target = os.path.join(out, "stack.npz")
    smdebug(program, "export", path, "--to", "npz", "-o", target, "--tensors", "^" + name.replace(".", r"\.") + "$")
    steps = sorted(step for (step, _), value in run.items() if name in value[2])
    with numpy.load(target, allow_pickle=False) as arrays:
        require(sorted(arrays.files) == sorted([name, "steps"]), f"{target}: {arrays.files}")
        require(arrays["steps"].tolist() == steps, f"{target}: other steps")
        stacked = numpy.stack([as_numpy(run[step, first[1]][2][name])[1] for step in steps])
        require(arrays[name].dtype == stacked.dtype and arrays[name].tobytes() == stacked.tobytes() and
                arrays[name].shape == stacked.shape, f"{target}: another array")
    return len(steps)


def check_disk_full(program, path, out):
    """A file-size limit instead of a full disk: nothing is left under the final name or beside it."""
    place = os.path.join(out, "full")
    os.makedirs(place)
    for to, name in (("npz", "npz"), ("npz", "x.npz"), ("csv", "x.csv"), ("safetensors", "st"), ("tensorboard", "tb"), ("smdebug", "run")):
        more = ["--steps", "0:1"] if name == "x.npz" else []
        script = 'trap "" XFSZ; ulimit -f 1; exec "$@"'
        done = subprocess.run(["bash", "-c", script, "bash", program, "export", path, "--to", to, "-o", os.path.join(place, name), *more],
                              capture_output=True, check=False, timeout=300)
        require(done.returncode == 1 and b"cannot write" in done.stderr, f"{to} on a full disk: {done.returncode} {done.stderr.decode()}")
        require(not os.listdir(place), f"{to} on a full disk left {os.listdir(place)}")


def main():
    program, golden, out = sys.argv[1:4]
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for name in ("torch_mlp", "mode_workers", "dtypes", "scalars", "reductions_raw", "reductions_only", "shapes_raw", "tf_workers",
                 "xgboost_like", "checksummed", "double__underscore"):
        path = os.path.join(golden, name)
        if os.path.isdir(path):
            print(f"{name}: tensors of steps in npz, safetensors, csv, tensorboard, smdebug:", *check_golden(program, path, os.path.join(out, name)))
    print("stacked steps:", check_stack(program, os.path.join(golden, "torch_mlp"), out))
    check_disk_full(program, os.path.join(golden, "torch_mlp"), out)


if __name__ == "__main__":
    main()
