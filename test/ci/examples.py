#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the examples for CI as a CI would.

usage: examples.py FOLDER [BIN SHARE VERBS UMAD]

Parses the files in FOLDER, which is examples/ci, extracts their commands and runs
them in a copy of the folder: the GitHub workflow with the action that it uses, the
job for GitLab, the fixtures of pytest and CTest. Without the other arguments, the
packages are installed; with them, BIN has the command, SHARE stands for
/usr/share/ibsa in the files, and VERBS and UMAD are the directories of
libibsa-verbs-preload.so and the drop-in libibumad.
Commands that install packages are not run; test/release/container runs them, and the
container file. Exit status: 0, 1, or 77 if a program is missing.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed", file=sys.stderr)
    sys.exit(77)

NEEDED = ["ibsa", "ibv_devinfo", "ibstat", "saquery", "pytest-3", "cmake", "ctest"]
INSTALLED = "/usr/share/ibsa"


class Examples:
    """The folder, and a copy in which commands run."""

    def __init__(self, source, work, share):
        self.source = source
        self.work = work
        self.share = share
        shutil.copytree(source, work)
        for path in work.iterdir():
            path.write_text(self.placed(path.read_text()))

    def placed(self, text):
        return text.replace(INSTALLED, self.share) if self.share else text

    def yaml(self, name):
        with open(self.work / name, encoding="utf-8") as file:
            return yaml.safe_load(file)

    def run(self, what, *command, **environment):
        print(f"{what}: {' '.join(command)[:200]}", flush=True)
        subprocess.run(command, cwd=self.work, check=True, timeout=120,
                       stdin=subprocess.DEVNULL,
                       env={**os.environ, **environment})


def expressions(text, inputs):
    """Replace ${{ inputs.NAME }}; no other expression may be left."""
    text = re.sub(r"\$\{\{ inputs\.(\w+) \}\}",
                  lambda match: str(inputs[match[1]]), str(text))
    assert "${{" not in text, text
    return text


def action_run(examples, given, environment):
    """Run the steps of the action, except the one that installs packages."""
    action = examples.yaml("action.yml")
    assert action["runs"]["using"] == "composite"
    unknown = set(given) - set(action["inputs"])
    assert not unknown, unknown
    inputs = {name: given.get(name, row.get("default"))
              for name, row in action["inputs"].items()}
    assert None not in inputs.values(), inputs
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash", step
        if step["name"] == "Install":
            script = re.search(r"/(\w+\.sh)", step["run"])[1]
            examples.run(script, "bash", "-n", script)
            continue
        variables = {name: expressions(value, inputs)
                     for name, value in step.get("env", {}).items()}
        examples.run(step["name"], "bash", "-ec", step["run"],
                     **{**environment, **variables})


def github_run(examples):
    workflow = examples.yaml("github.yml")
    # YAML 1.1 takes the key "on" for a truth value.
    assert set(workflow) == {"name", True, "jobs"}, workflow
    ran = 0
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            uses = step.get("uses", "")
            if uses.startswith("OWNER/"):
                folder = uses.split("@")[0].removeprefix("OWNER/ibsa/")
                assert examples.source.as_posix().endswith(folder), folder
                action_run(examples, step["with"], {})
            elif "run" in step:
                examples.run(step["name"], "bash", "-ec", step["run"])
            else:
                assert uses.startswith("actions/"), step
                continue
            ran += 1
    assert ran == 2, ran


def gitlab_run(examples):
    jobs = examples.yaml("gitlab.yml")
    assert list(jobs) == ["fabric"], jobs
    for name, job in jobs.items():
        for line in job["script"]:
            examples.run(name, "sh", "-ec", line, **job["variables"])
        for path in job["artifacts"]["paths"]:
            assert (examples.work / path).stat().st_size > 10000, path
            (examples.work / path).unlink()


def container_check(examples):
    """The image is made by the script that the action runs, too."""
    lines = (examples.work / "Containerfile").read_text().splitlines()
    commands = [line.split(" ", 1) for line in lines
                if line and not line.startswith("#")]
    assert [word for word, _ in commands] == [
        "FROM", "COPY", "RUN", "WORKDIR", "CMD"], commands
    script = re.search(r"/ibsa/(\S+)", dict(commands)["RUN"])[1]
    assert script.startswith("examples/ci/"), script
    assert (examples.work / pathlib.Path(script).name).is_file(), script


def pytest_run(examples):
    file = f"{examples.share or INSTALLED}/fabrics/dgx.net"
    examples.run("pytest", "pytest-3", "-q", "-p", "no:cacheprovider",
                 "test_rails.py", FABRIC_FILE=file)


def ctest_run(examples, libraries):
    build = examples.work / "build"
    options = []
    if libraries:
        options = [f"-DIBSA_VERBS={libraries[0]}/libibsa-verbs-preload.so",
                   f"-DIBSA_UMAD={libraries[1]}"]
    examples.run("cmake", "cmake", "-S", ".", "-B", str(build), *options)
    examples.run("ctest", "ctest", "--test-dir", str(build),
                 "--output-on-failure")
    assert not (build / "fabric").exists()
    assert (build / "fabric.pcap").stat().st_size > 10000


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    share, libraries = None, []
    if len(sys.argv) > 2:
        folder, share, *libraries = (os.path.abspath(path) for path in sys.argv[2:])
        os.environ["PATH"] = folder + ":" + os.environ["PATH"]
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        print("skipped: not installed:", *missing, file=sys.stderr)
        return 77
    for name in ("IBSA_FABRIC", "IBSA_NODE", "LD_PRELOAD", "LD_LIBRARY_PATH"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        examples = Examples(source, pathlib.Path(folder) / "ci", share)
        container_check(examples)
        github_run(examples)
        gitlab_run(examples)
        pytest_run(examples)
        ctest_run(examples, libraries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
