import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { projectRoot } from './project-files.ts';

/** A fenced code block of a text. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** The file in which the reader saves the code, if the line before says "Save this as `NAME`:". */
  readonly file?: string | undefined;
}

/** Returns the fenced code blocks of a Markdown text. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks = /(?:^Save this as `([\w.-]+)`:\n\n)?^```(\w+)\n(.*?)^```/gms;
  return [...markdown.matchAll(blocks)].map(([, file, language = '', code = '']) => ({ language, code, file }));
}

/** Returns the output that a block documents: its comment lines. Examples have no other comments. */
export function expectedOutput(code: string): string {
  return code
    .split('\n')
    .filter((line) => line.startsWith('// '))
    .map((line) => line.slice(3))
    .join('\n');
}

/** A command of a console block, with the output that the block shows. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string;
  /** The exit code that the block shows with `echo $?`; 0 if it shows none. */
  readonly code: number;
}

/** Returns the commands of a console block: lines after `$ `, which a backslash at the end joins. */
export function shownCommands(console: string): ShownCommand[] {
  return `\n${console.replaceAll(/\\\n\s*/g, '')}`
    .split('\n$ ')
    .slice(1)
    .reduce<ShownCommand[]>((shown, part) => {
      const [command = '', ...lines] = part.split('\n');
      const output = lines.join('\n').trim();
      const last = shown.at(-1);
      if (command !== 'echo $?' || last === undefined) return [...shown, { command, output, code: 0 }];
      return [...shown.slice(0, -1), { ...last, code: Number(output) }];
    }, []);
}

/** Returns whether an output is the shown one, in which `…` replaces any text, such as a time. */
export function isShown(output: string, shown: string): boolean {
  const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(output.trim());
}

/** Runs a TypeScript block that imports the package by its name, and returns its output. */
export async function runTypeScript(code: string): Promise<string> {
  // Inside the checkout, so that the package can import itself by name.
  const parent = path.join(projectRoot, 'out');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, 'example-'));
  const before = process.cwd();
  const printed: string[] = [];
  const { log } = console;
  try {
    const file = path.join(folder, 'example.mts');
    writeFileSync(file, code);
    process.chdir(folder);
    console.log = (...values: unknown[]) => {
      printed.push(values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' '));
    };
    await import(pathToFileURL(file).href);
  } finally {
    console.log = log;
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
  return printed.join('\n');
}
