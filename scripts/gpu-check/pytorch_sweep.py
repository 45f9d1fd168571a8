"""Runs the sweep as a loop in PyTorch, as a user would write it without evenhand.

    python3 pytorch_sweep.py work.json cuda|cpu RUNS SECONDS

work.json describes the work. The matrices are next to it as raw float32: the
same rows that evenhand trains on. Networks are trained one after another. All
data are on the device from the start and are shuffled there, and nothing is
read from it before a network is done. There is no early stopping, so the loop
does less work in this respect. One network is trained before the measurement.
The complete work runs RUNS times, or fewer if another run would not end within
SECONDS. Prints a line of JSON after each run, the last one with all times.
"""
import json
import os
import sys
import time

import torch


def load(folder, name, columns, rows, device):
    """Returns x [rows, columns], y [rows, 1] and s [rows, 1], which is 1 for the group with code 1."""

    def read(part, shape):
        with open(os.path.join(folder, f"{name}_{part}.f32"), "rb") as file:
            values = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
        return values.reshape(shape).to(device)

    return read("x", (rows, columns)), read("y", (rows, 1)), (read("s", (rows, 1)) == 1).float()


def train(work, x, y, s, eta):
    torch.manual_seed(7)
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], work["hidden"]), torch.nn.ReLU(), torch.nn.Linear(work["hidden"], 1)
    ).to(x.device)
    optimiser, bce = torch.optim.Adam(net.parameters(), work["lr"]), torch.nn.BCEWithLogitsLoss()
    for _ in range(work["epochs"]):
        order = torch.randperm(len(x), device=x.device)
        for start in range(0, len(x), work["batch"]):
            rows = order[start : start + work["batch"]]
            logit, group = net(x[rows]), s[rows]
            p = logit.sigmoid()
            gap = (p * group).sum() / group.sum() - (p * (1 - group)).sum() / (1 - group).sum()
            loss = bce(logit, y[rows]) + eta * gap**2
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return net


def judge(net, x, y, s, eta):
    """Returns the accuracy and the difference of selection rates on held-out rows."""
    with torch.no_grad():
        decided = (net(x) >= 0).double()
    accuracy = (decided == y).double().mean().item()
    gap = abs(decided[s == 1].mean().item() - decided[s == 0].mean().item())
    return {"eta": eta, "accuracy": accuracy, "dp": gap}


def main(header, device, runs, limit):
    began = time.perf_counter()
    with open(header, encoding="utf-8") as file:
        work = json.load(file)
    folder = os.path.dirname(os.path.abspath(header))
    is_cuda = device == "cuda"
    wait = torch.cuda.synchronize if is_cuda else lambda: None
    data = load(folder, "train", work["columns"], work["train"], device)
    held = load(folder, "test", work["columns"], work["test"], device)

    def timed(etas):
        wait()
        start = time.perf_counter()
        points = [judge(train(work, *data, eta), *held, eta) for eta in etas]
        wait()
        return time.perf_counter() - start, points

    warm_up_seconds, _ = timed(work["etas"][:1])
    run_seconds = []
    while len(run_seconds) < int(runs):
        seconds, points = timed(work["etas"])
        run_seconds.append(seconds)
        answer = {
            "torch": torch.__version__,
            "device": torch.cuda.get_device_name() if is_cuda else "cpu",
            "rows": work["train"],
            "run_seconds": run_seconds,
            "warm_up_seconds": warm_up_seconds,
            "peak_bytes": torch.cuda.max_memory_allocated() if is_cuda else None,
            "points": points,
        }
        print(json.dumps(answer), flush=True)
        if time.perf_counter() - began + 1.2 * seconds > float(limit):
            break


main(*sys.argv[1:])
