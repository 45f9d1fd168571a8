import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

/** A step of a composite action. */
interface ActionStep {
  readonly id?: string;
  readonly name: string;
  readonly if?: string;
  readonly shell?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
}

/** A composite action of GitHub, as its file defines it. */
export interface CompositeAction {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string | number }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly ActionStep[] };
}

export function readAction(file: string): CompositeAction {
  return parse(readFileSync(file, 'utf8')) as CompositeAction;
}

/** How a job calls an action. */
export interface ActionCall {
  /** The folder of the checkout of the caller. */
  readonly workspace: string;
  /** An empty folder for the files of the runner. */
  readonly runner: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** What a runner has seen of an action. */
export interface ActionRun {
  /** The exit code of the step that failed; 0 if none failed. */
  readonly code: number;
  /** Standard output and standard error of all steps, in their order. */
  readonly log: string;
  /** The commands in the log that the runner obeys. */
  readonly commands: readonly string[];
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** The inputs of the other actions that it called, by the name of the step. */
  readonly called: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Runs the shell steps of a composite action as a runner of GitHub does: expressions are replaced, each step has its own
 * GITHUB_OUTPUT, and bash stops at the first error. Other actions are not run, but their inputs are returned.
 */
export async function runAction(action: CompositeAction, call: ActionCall): Promise<ActionRun> {
  const { workspace, runner } = call;
  const summaryFile = path.join(runner, 'summary.md');
  writeFileSync(summaryFile, '');
  mkdirSync(path.join(runner, 'temp'), { recursive: true });
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, input]) => [name, call.inputs[name] ?? String(input.default ?? '')]),
  );
  const steps: Record<string, Record<string, string>> = {};
  const fill = (text: string): string =>
    text.replaceAll(/\$\{\{\s*(.*?)\s*\}\}/g, (_, expression: string) => valueOf(expression, { inputs, steps }));
  const called: Record<string, Record<string, string>> = {};
  let log = '';
  let code = 0;
  for (const [index, step] of action.runs.steps.entries()) {
    if (step.if !== undefined && !holds(step.if, inputs)) continue;
    if (step.run === undefined) {
      called[step.name] = mapValues(step.with ?? {}, fill);
      continue;
    }
    const output = path.join(runner, `output-${String(index)}`);
    writeFileSync(output, '');
    const script = path.join(runner, `step-${String(index)}.sh`);
    writeFileSync(script, fill(step.run));
    const ran = await runBash(script, {
      cwd: path.resolve(workspace, fill(step['working-directory'] ?? '.')),
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: runner,
        CI: 'true',
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: workspace,
        RUNNER_TEMP: path.join(runner, 'temp'),
        ...call.env,
        ...mapValues(step.env ?? {}, fill),
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summaryFile,
      },
    });
    log += ran.log;
    if (step.id !== undefined) steps[step.id] = readOutputs(readFileSync(output, 'utf8'));
    if (ran.code !== 0) {
      code = ran.code;
      break;
    }
  }
  const outputs = mapValues(
    Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, value])),
    fill,
  );
  return { code, log, commands: obeyed(log), summary: readFileSync(summaryFile, 'utf8'), outputs, called };
}

/** Returns the value of the expressions that the action uses. Any other expression is an error of the test. */
function valueOf(
  expression: string,
  {
    inputs,
    steps,
  }: {
    readonly inputs: Readonly<Record<string, string>>;
    readonly steps: Readonly<Record<string, Readonly<Record<string, string>>>>;
  },
): string {
  const [, input] = /^inputs\.([\w-]+)$/.exec(expression) ?? [];
  if (input !== undefined && input in inputs) return inputs[input] ?? '';
  const [, step, output] = /^steps\.([\w-]+)\.outputs\.([\w-]+)$/.exec(expression) ?? [];
  if (step !== undefined && output !== undefined) return steps[step]?.[output] ?? '';
  throw new Error(`The expression ${expression} is not known.`);
}

function holds(condition: string, inputs: Readonly<Record<string, string>>): boolean {
  const [, name, text] = /^inputs\.([\w-]+) != '([^']*)'$/.exec(condition) ?? [];
  if (name === undefined || !(name in inputs)) throw new Error(`The condition ${condition} is not known.`);
  return inputs[name] !== text;
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function runBash(
  script: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly code: number; readonly log: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], { cwd, env, timeout: 300_000 });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (log += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code: code ?? -1, log });
    });
  });
}

/** Reads a file of outputs: lines `name=value`, and values of several lines between delimiters. */
function readOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = text.split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, name = '', delimiter] = /^([^=]+?)<<(.+)$/.exec(line) ?? [];
    if (delimiter !== undefined) {
      outputs[name] = lines.splice(0, lines.indexOf(delimiter)).join('\n');
      lines.shift();
    } else if (line.includes('=')) outputs[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
    else if (line !== '') throw new Error(`The line of outputs '${line}' is not valid.`);
  }
  return outputs;
}

/** Returns the lines that a runner reads as commands. After stop-commands, it reads none until it reads the token. */
function obeyed(log: string): string[] {
  const commands: string[] = [];
  let token: string | undefined;
  for (const line of log.split('\n').map((each) => each.trim())) {
    if (token !== undefined) {
      if (line === `::${token}::`) token = undefined;
      continue;
    }
    const [, name, value] = /^::([\w-]+)(?: [^:]*)?::(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    commands.push(line);
    if (name === 'stop-commands') token = value;
  }
  return commands;
}
