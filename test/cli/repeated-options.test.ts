import { readdirSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';
import { Command, type CommanderError, type Option } from 'commander';

import { insteadOfRepeating, isRepeatable } from '../../src/cli/option-parsers.ts';
import { refuseRepeats } from '../../src/cli/program.ts';
import { runCli } from '../helpers/run-cli.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../src/cli/commands');

/** Returns functions that each create a new instance of a command; each file of commands exports one. */
async function commandMakers(): Promise<(() => Command)[]> {
  const makers: (() => Command)[] = [];
  for (const file of readdirSync(FOLDER)) {
    const exported = (await import(path.join(FOLDER, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported)) {
      if (!/^[a-z]\w*Command$/.test(name) || typeof value !== 'function' || value.length > 0) continue;
      const make = value as () => Command;
      makers.push(make, ...make().commands.map((_, index) => () => make().commands[index] as Command));
    }
  }
  return makers;
}

/** Values of which every parser accepts at least one. */
const VALUES = ['1', 'a', '0.5', '12', '.'];

function parse(command: Command, args: readonly string[]): CommanderError | undefined {
  refuseRepeats(command);
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  try {
    command.parseOptions([...args]);
    return undefined;
  } catch (error) {
    return error as CommanderError;
  }
}

function argumentsFor(option: Option, value: string | undefined): string[] {
  const name = option.long ?? option.short ?? '';
  return value === undefined ? [name] : [name, value];
}

describe('an option that is repeated', () => {
  it('is rejected by every command, except for options that collect their values', async () => {
    let walked = 0;
    for (const make of await commandMakers()) {
      for (const index of make().options.keys()) {
        const optionOf = (command: Command): Option => command.options[index] as Option;
        const given = (times: number, value: string | undefined): [Command, string[]] => {
          const command = make();
          return [command, Array.from({ length: times }, () => argumentsFor(optionOf(command), value)).flat()];
        };
        const option = optionOf(make());
        const name = `${make().name()} ${option.long ?? ''}`;
        const candidates = option.required || option.optional ? [...(option.argChoices ?? []), ...VALUES] : [undefined];
        const value = candidates.find((candidate) => parse(...given(1, candidate)) === undefined);
        expect(value === undefined, name).to.equal(candidates[0] === undefined);
        const error = parse(...given(2, value));
        walked++;
        if (isRepeatable(option)) {
          expect(error, name).to.equal(undefined);
          continue;
        }
        expect(error?.message, name)
          .to.include(`option '${option.long ?? ''}' was given twice`)
          .and.to.include('Give it once');
        if (value !== undefined) expect(error?.message, name).to.include(`'${value}' and '${value}'`);
        if (insteadOfRepeating(option) !== undefined) expect(error?.message, name).to.include('comma-separated list');
      }
    }
    expect(walked).to.be.greaterThan(150);
  });

  it('adds to the list, if the option takes a list of names', async () => {
    const commands = (await commandMakers()).map((make) => make());
    for (const name of ['llm-eval', 'ab-test', 'monitor']) {
      const command = commands.find((one) => one.name() === name) as Command;
      expect(parse(command, ['--metric', 'a,b', '--metric', 'c'])).to.equal(undefined);
      expect(command.opts()['metric'], name).to.deep.equal(['a', 'b', 'c']);
    }
  });

  it('is rejected in both forms of a switch, since one of them would be ignored', async () => {
    const makers = await commandMakers();
    const command = makers.map((make) => make()).find((one) => one.name() === 'llm-eval') as Command;
    expect(parse(command, ['--with-ci', '--no-with-ci'])?.message).to.include(
      "'--with-ci' and '--no-with-ci' contradict",
    );
  });

  it('shows the list that replaces it, if the option takes a list of texts', async () => {
    const { stderr } = await runCli(['validate', '--na-values', 'NA', '--na-values', 'not known']);
    expect(stderr).to.include("Give it once; a comma-separated list holds several texts: --na-values 'NA,not known'.");
  });

  it('ends with exit code 2, also for a subcommand', async () => {
    const twice = await runCli(['validate', '--threshold', '0.1', '--threshold', '0.2']);
    expect(twice.code).to.equal(2);
    expect(twice.stderr).to.equal(
      "error: option '--threshold' was given twice: '0.1' and '0.2'. Give it once. Run 'evenhand validate --help' for the options.\n",
    );
    expect((await runCli(['config', 'check', '--config', 'a.yml', '--config', 'b.yml'])).code).to.equal(2);
  });
});
