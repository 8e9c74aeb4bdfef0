#!/usr/bin/env python3
"""Whether files that torch writes are read as torch reads them.  Needs torch and numpy.

check_torch_files.py PROGRAM   PROGRAM is smdebug.  Saves dictionaries, views, dtypes, modules, scripted modules and, from 2.0 on, a
distributed checkpoint, in each form that this torch writes, exports each to .npz, and compares names, dtypes, shapes and elements."""
import os
import subprocess
import sys
import tempfile

import numpy
import torch

WIDE = {torch.bfloat16: torch.float32}


def array_of(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return tensor.to(WIDE.get(tensor.dtype, tensor.dtype)).numpy()


def flat(value, path=()):
    """The tensors in dictionaries and lists, by their names."""
    if isinstance(value, torch.Tensor):
        yield "/".join(path), array_of(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from flat(each, path + (str(key),))
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from flat(each, path + (str(i),))


def exported(program, path, out):
    """The arrays that the program finds in a file."""
    done = subprocess.run([program, "export", path, "--to", "npz", "--as", "checkpoints", "-o", out], capture_output=True, text=True)
    arrays = {}
    for below, _, files in os.walk(out):
        for file in files:
            if file.endswith(".npz"):
                with numpy.load(os.path.join(below, file)) as content:
                    arrays.update({name: content[name] for name in content.files})
    return arrays, done.stderr


def main(program):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(144, 10))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(2, 3, 8, 8)).square().mean().backward()
        optimizer.step()
    base = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    views = {"x": base, "t": base.permute(2, 0, 1), "s": base[:, 1:, ::2], "e": base[0, 0, :1].expand(5, 1), "z": base[1, 2, 3],
             "cl": torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last), "p": torch.nn.Parameter(base[0])}
    dtypes = {str(dtype)[6:]: torch.ones(3).to(dtype) for dtype in
              (torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool,
               torch.complex64, torch.complex128)}
    conj = {"conj": torch.tensor([1 + 2j, 3 - 4j]).conj()}
    neg = {"neg": torch.tensor([1 + 2j, 3 - 4j]).conj().imag}
    cases = {"state": model.state_dict(), "views": views, "dtypes": dtypes, "conj": conj, "neg": neg,
             "checkpoint": {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3},
             "list": [base, {"a": base[0]}]}
    failed = 0

    def compare(what, wanted, path, folder):
        nonlocal failed
        found, said = exported(program, path, os.path.join(folder, "out"))
        for name, array in wanted.items():
            if array.size == 0:
                continue
            if name not in found:
                print(f"{what}: {name} is missing: {said.strip()}")
                failed += 1
            elif found[name].shape != array.shape or not numpy.array_equal(found[name], array, equal_nan=array.dtype.kind in "fc"):
                print(f"{what}: {name} has other elements")
                failed += 1

    for name, value in cases.items():
        for how in ({}, {"_use_new_zipfile_serialization": False}, {"pickle_protocol": 4}):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "step_1.pt")
                torch.save(value, path, **how)
                compare(f"{name} {how}", dict(flat(torch.load(path))), path, folder)  # 1.13 loses conj and neg itself
    state = dict(flat(model.state_dict()))
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model, os.path.join(folder, "step_1.pt"))
        compare("module", state, os.path.join(folder, "step_1.pt"), folder)
    with tempfile.TemporaryDirectory() as folder:
        torch.jit.script(model).save(os.path.join(folder, "step_1.pt"))
        compare("script", state, os.path.join(folder, "step_1.pt"), folder)
    try:
        from torch.distributed.checkpoint import FileSystemWriter, save
    except ImportError:
        print("skipped: a distributed checkpoint, which this torch does not write")
    else:
        with tempfile.TemporaryDirectory() as folder:
            save({"model": model.state_dict()}, storage_writer=FileSystemWriter(os.path.join(folder, "step_1")))
            wanted = {"model." + name: array for name, array in state.items()}
            compare("distributed", wanted, folder, folder + "_out")
    print(f"torch {torch.__version__}: {failed} failed")
    sys.exit(1 if failed else 0)


main(sys.argv[1])
