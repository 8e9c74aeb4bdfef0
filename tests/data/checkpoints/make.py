#!/usr/bin/env python3
"""Writes the checkpoints beside it, and expected.json: what an independent reader finds in them.  Needs numpy.

make.py FOLDER   .safetensors are put together by struct and json, as the format's description has them; .npy and .npz are
numpy's own.  Of each tensor expected.json has the place (in an .npz: in the member) and the bytes, as numpy.load and plain
slices of the files give them.  The files here: numpy 1.24.2."""
import io
import json
import os
import struct
import sys
import zipfile

import numpy

NAMES = {"<f4": "float32", "<f8": "float64", "<f2": "float16", "<i8": "int64", "<i4": "int32", "<i2": "int16", "|i1": "int8",
         "<u8": "uint64", "<u4": "uint32", "<u2": "uint16", "|u1": "uint8", "|b1": "bool", "<c8": "complex64",
         "<c16": "complex128"}
SAFETENSORS = {"F32": "float32", "F64": "float64", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
               "F8_E5M2": "float8_e5m2", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U64": "uint64",
               "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool", "C64": "complex64"}


def write_safetensors(path, tensors, metadata=None):
    """tensors: (name, dtype, shape, bytes); as torch does, padded to 8 bytes."""
    header = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for name, dtype, shape, content in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(content)]}
        offset += len(content)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(content for *_, content in tensors))


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = []
    for name, of in json.loads(data[8:begin]).items():
        if name == "__metadata__":
            continue
        first, last = of["data_offsets"]
        tensors.append({"name": name, "dtype": SAFETENSORS[of["dtype"]], "shape": of["shape"], "begin": begin + first,
                        "bytes": data[begin + first:begin + last].hex()})
    return tensors


def array_of(name, data):
    file = io.BytesIO(data)
    version = numpy.lib.format.read_magic(file)
    if version == (1, 0):
        shape, column_major, dtype = numpy.lib.format.read_array_header_1_0(file)
    else:
        shape, column_major, dtype = numpy.lib.format._read_array_header(file, version)
    begin = file.tell()
    array = numpy.load(io.BytesIO(data))
    assert array.shape == shape and array.dtype == dtype
    return {"name": name, "dtype": NAMES[dtype.newbyteorder("<").str], "shape": list(shape), "begin": begin,
            "big_endian": dtype.str[0] == ">", "column_major": bool(column_major) and len(shape) > 1,
            "bytes": array.tobytes(order="A").hex()}


def write_torch(out, root):
    """What torch.save writes of dictionaries, lists, numbers, texts, and arrays of float32 as tensors."""
    storages = []

    def opcodes(value):
        if isinstance(value, dict):
            return b"}(" + b"".join(opcodes(key) + opcodes(each) for key, each in value.items()) + b"u"
        if isinstance(value, list):
            return b"](" + b"".join(map(opcodes, value)) + b"e"
        if isinstance(value, tuple):
            return b"(" + b"".join(map(opcodes, value)) + b"t"
        if isinstance(value, str):
            return b"X" + struct.pack("<I", len(value)) + value.encode()
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, int):
            return b"J" + struct.pack("<i", value)
        storages.append(value)
        key = str(len(storages) - 1)
        of = b"(" + opcodes("storage") + b"ctorch\nFloatStorage\n" + opcodes(key) + opcodes("cpu") + opcodes(value.size) + b"tQ"
        return (b"ctorch._utils\n_rebuild_tensor_v2\n(" + of + opcodes(0) + opcodes(value.shape) +
                opcodes(tuple(stride // 4 for stride in value.strides)) + b"\x89ccollections\nOrderedDict\n)RtR")

    pickle = b"\x80\x02" + opcodes(root) + b"."
    with zipfile.ZipFile(out, "w") as records:
        for name, content in [("data.pkl", pickle)] + [(f"data/{i}", each.tobytes()) for i, each in enumerate(storages)]:
            records.writestr(zipfile.ZipInfo("optimizer/" + name), content)


def read(path):
    if path.endswith(".safetensors"):
        return read_safetensors(path)
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".npy"):
        return [array_of("", data)]
    with zipfile.ZipFile(io.BytesIO(data)) as members:
        return [array_of(name[:-len(".npy")], members.read(name)) for name in members.namelist()]


def main(folder):
    def path(*names):
        os.makedirs(os.path.join(folder, *names[:-1]), exist_ok=True)
        return os.path.join(folder, *names)

    write_safetensors(path("every_dtype.safetensors"), [
        (name, name, [2, 3], bytes((17 * i + k) % (2 if name == "BOOL" else 251)
                                   for i in range(6) for k in range(numpy.dtype(numpy_name).itemsize)))
        for name, numpy_name in [("F32", "f4"), ("F64", "f8"), ("F16", "f2"), ("BF16", "u2"), ("F8_E4M3", "u1"),
                                 ("F8_E5M2", "u1"), ("I64", "i8"), ("I32", "i4"), ("I16", "i2"), ("I8", "i1"), ("U64", "u8"),
                                 ("U32", "u4"), ("U16", "u2"), ("U8", "u1"), ("BOOL", "?"), ("C64", "c8")]
    ] + [("scalar", "F32", [], struct.pack("<f", 2.5)), ("empty", "F32", [0, 4], b"")], {"format": "pt"})
    for step in (500, 1000):
        weights = numpy.arange(6, dtype="<f4") + step
        write_safetensors(path("trainer", f"checkpoint-{step}", "model.safetensors"),
                          [("layer.weight", "F32", [2, 3], weights.tobytes()),
                           ("layer.bias", "BF16", [3], bytes(6))], {"format": "pt"})
        with open(path("trainer", f"checkpoint-{step}", "optimizer.pt"), "wb") as out:
            write_torch(out, {"state": {0: {"exp_avg": weights * 0.5}}, "param_groups": [{"lr": 0.1}]})
    parts = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    write_safetensors(path("sharded", parts[0]), [("a", "F32", [2], struct.pack("<2f", 1, 2))])
    write_safetensors(path("sharded", parts[1]), [("b", "I64", [1], struct.pack("<q", 3))])
    with open(path("sharded", "model.safetensors.index.json"), "w", encoding="utf-8") as out:
        json.dump({"metadata": {"total_size": 16}, "weight_map": {"a": parts[0], "b": parts[1]}}, out)

    square = numpy.arange(12, dtype="<f4").reshape(3, 4)
    numpy.save(path("arrays", "square.npy"), square)
    numpy.save(path("arrays", "columns.npy"), numpy.asfortranarray(square))
    numpy.save(path("arrays", "big_endian.npy"), square.astype(">f4"))
    numpy.save(path("arrays", "scalar.npy"), numpy.array(7, dtype="<i8"))
    numpy.save(path("arrays", "empty.npy"), numpy.zeros((0, 3), dtype="<f8"))
    numpy.save(path("arrays", "flags.npy"), numpy.array([True, False, True]))
    for version in ((2, 0), (3, 0)):
        with open(path("arrays", f"version_{version[0]}.npy"), "wb") as out:
            numpy.lib.format.write_array(out, square.astype("<c16"), version)
    arrays = {"dense/kernel": square, "dense/bias": numpy.ones(4, dtype="<f2"), "step": numpy.array(500, dtype="<u4")}
    numpy.savez(path("numbered", "step_500.npz"), **arrays)
    numpy.savez_compressed(path("numbered", "step_1000.npz"), **arrays)

    expected = {}
    for below, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            if file.endswith((".safetensors", ".npy", ".npz")):
                full = os.path.join(below, file)
                expected[os.path.relpath(full, folder)] = read(full)
    with open(path("expected.json"), "w", encoding="utf-8") as out:
        json.dump(expected, out, indent=1)
        out.write("\n")


main(sys.argv[1])
