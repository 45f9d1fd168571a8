import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { projectRoot } from './project-files.ts';

/** A fenced code block of a text. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

/** Returns the fenced code blocks of a Markdown text. */
export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', code = '']) => ({ language, code }));
}

/** Returns the output that a block documents: its comment lines. Examples have no other comments. */
export function expectedOutput(code: string): string {
  return code
    .split('\n')
    .filter((line) => line.startsWith('// '))
    .map((line) => line.slice(3))
    .join('\n');
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
