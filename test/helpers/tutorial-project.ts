import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { isShown } from './code-blocks.ts';
import { freePort } from './mlflow-server.ts';
import { projectRoot } from './project-files.ts';
import type { CliRun } from './run-cli.ts';

/** The port of the service in the tutorials. The tests take a free one in its place. */
const SHOWN_PORT = '8321';

/** A folder in which the package is installed, and in which commands of a tutorial run as the reader runs them. */
export interface TutorialProject {
  /** Runs a command in bash. */
  readonly run: (command: string) => Promise<CliRun>;
  /** Starts a command that does not end, and waits until its output is the shown one. */
  readonly start: (command: string, shown: string) => Promise<void>;
  /** Ends what was started. */
  readonly end: () => void;
}

/**
 * Installs the package in a folder. `node` also runs TypeScript on versions of Node that cannot do it. `python3` writes
 * the predictions that `examples/scikit-learn/train.py` writes, because few machines have scikit-learn; the tests of the
 * examples run that program.
 */
export function tutorialProject(folder: string): TutorialProject {
  const modules = path.join(folder, 'node_modules');
  const bin = path.join(modules, '.bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(projectRoot, path.join(modules, 'evenhand'), 'dir');
  symlinkSync(path.join(projectRoot, 'dist/cli/main.js'), path.join(bin, 'evenhand'));
  const script = (name: string, text: string): void => {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  const node = `exec '${process.execPath}'`;
  script(
    'node',
    `case "$*" in *.mts) ${node} --import '${path.join(projectRoot, 'node_modules/tsx/dist/loader.mjs')}' "$@" ;; *) ${node} "$@" ;; esac`,
  );
  script('python3', `cp '${path.join(projectRoot, 'examples/scikit-learn/predictions.csv')}' "$3"`);
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');

  const started = new Set<ChildProcess>();
  const port = freePort().then(String);
  const launch = async (command: string): Promise<ChildProcess> => {
    const { EVENHAND_API_KEYS: _, FORCE_COLOR: __, ...inherited } = process.env;
    // A group of its own, so that the processes that npx starts end with it.
    // With a socket as stdin, bash may read ~/.bashrc, which can change PATH.
    return spawn('bash', ['--norc', '-c', command.replaceAll(SHOWN_PORT, await port)], {
      cwd: folder,
      detached: true,
      env: {
        ...inherited,
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        EVENHAND_LOG_LEVEL: 'error',
        EVENHAND_TF_BACKEND: 'wasm',
      },
    });
  };

  return {
    async run(command) {
      const child = await launch(command);
      const read = readOutput(child, await port);
      child.stdin?.end();
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, ...read() };
    },
    async start(command, shown) {
      const child = await launch(command);
      started.add(child);
      const read = readOutput(child, await port);
      await new Promise<void>((resolve, reject) => {
        child.on('close', (code) => {
          started.delete(child);
          reject(new Error(`'${command}' ended with ${String(code)}: ${read().stderr}`));
        });
        child.stdout?.on('data', () => {
          if (isShown(read().stdout, shown)) resolve();
        });
      });
    },
    end: () => {
      for (const { pid } of started) if (pid !== undefined) process.kill(-pid, 'SIGTERM');
    },
  };
}

function readOutput(
  { stdout, stderr }: ChildProcess,
  port: string,
): () => { readonly stdout: string; readonly stderr: string } {
  const texts = { stdout: '', stderr: '' };
  stdout?.on('data', (data: Buffer) => (texts.stdout += data.toString()));
  stderr?.on('data', (data: Buffer) => (texts.stderr += data.toString()));
  return () => ({ ...texts, stdout: texts.stdout.replaceAll(`:${port}`, `:${SHOWN_PORT}`) });
}
