import { Argument, Command } from 'commander';

import type { NativeBackend } from '../../integration/install-backend.ts';
import { addClosingHelp } from '../help-layout.ts';
import { defineCommand } from '../define-command.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { progressBar } from '../progress-bar.ts';

interface InstallOptions extends OutputOptions {
  readonly prefix?: string;
  readonly cache?: string;
  readonly wheels?: string;
  readonly dryRun?: boolean;
}

const BACKENDS = ['node', 'node-gpu'] as const;

/** Returns the command `evenhand backend`, with its subcommand `install`. */
export function backendCommand(): Command {
  const command = new Command('backend').addCommand(installCommand());
  return addClosingHelp(
    command,
    `
Example:
  $ evenhand backend install node`,
  );
}

function installCommand(): Command {
  return defineCommand<InstallOptions>({
    name: 'install',
    description: "Build the backend 'node' (CPU) or 'node-gpu' (NVIDIA) against TensorFlow from PyPI. Linux only.",
    options: `
--prefix <folder>  folder of the project whose node_modules gets the package (default: this folder)
--cache <folder>  folder that keeps TensorFlow's library; the package links to it (default: ~/.cache/evenhand)
--wheels <folder>  folder of wheels, to install without a network
--dry-run  only check what this machine lacks; exit 2 if something is missing`,
    help: `
Examples:
  $ evenhand backend install node
  $ evenhand doctor --backend node --numerics

  Without a network: download the wheels elsewhere, and bring the folder:
  $ pip download --no-deps --only-binary=:all: --python-version 3.12 --platform manylinux_2_27_x86_64 \\
      --dest wheels tensorflow-cpu==2.21.0
  $ evenhand backend install node --wheels wheels

node downloads 0.3 GB and needs 1.1 GB of disk; node-gpu downloads 3 GB, with the libraries of CUDA 12 and cuDNN 9.
Both need a C++ compiler and Python's pip for the installation only. A second installation uses the kept library.
npm ci removes the package again. Exit codes: 0 installed, 2 something is missing or a step failed, 3 an
internal error.`,
    async run(options, _, args) {
      const { installBackend, missingToInstall } = await import('../../integration/install-backend.ts');
      const name = args[0] as NativeBackend;
      const { prefix, cache, wheels, dryRun } = options;
      const given = { prefix, cache, wheels };
      if (dryRun === true) {
        const missing = await missingToInstall(name, given);
        const lines = missing.map(({ what, mend }) => `- ${what}. ${mend}`);
        await printResult(options, {
          json: () => ({ backend: name, missing }),
          text: () => (missing.length === 0 ? `Nothing is missing for the backend '${name}'.` : lines.join('\n')),
        });
        if (missing.length > 0) process.exitCode = 2;
        return;
      }
      const installed = await installBackend(name, { ...given, onProgress: progressBar(options) });
      await printResult(options, {
        json: () => installed,
        text: () =>
          [
            `Installed ${installed.package} with TensorFlow ${installed.tensorflow} in ${installed.folder}.`,
            `TensorFlow's library is in ${installed.library}; keep that folder.`,
            installed.package.includes('-gpu@') && !installed.uses_gpu
              ? 'It computes on the CPU, because it finds no GPU. evenhand doctor says what is missing.'
              : `It computes${installed.uses_gpu ? ' on the GPU' : ''}. Check its numbers with: evenhand doctor --backend ${name} --numerics`,
          ].join('\n'),
      });
    },
  }).addArgument(new Argument('<backend>', 'backend to install').choices(BACKENDS));
}
