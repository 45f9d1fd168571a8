import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

before(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout, stderr } = await runCli(['completion', shell]);
    expect(code, stderr).to.equal(0);
    writeFileSync(path.join(folder(), `evenhand.${shell}`), stdout);
  }
  for (const name of ['rows.csv', 'two words.csv']) writeFileSync(path.join(folder(), name), 'a\n1\n');
  mkdirSync(path.join(folder(), 'reports'));
});

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { cwd: folder(), encoding: 'utf8', env: { ...process.env, HOME: folder() } });

/**
 * Returns the completions that bash offers for the last of the words, split as bash splits a line. With an empty PATH,
 * the script can start no program, so that Tab is fast.
 */
function bash(...words: string[]): string[] {
  const script = [
    'PATH=',
    'source ./evenhand.bash',
    `COMP_WORDS=(evenhand ${words.map((word) => `'${word}'`).join(' ')})`,
    `COMP_CWORD=${String(words.length)}`,
    'COMPREPLY=()',
    '[[ $(complete -p evenhand) == *"-F _evenhand evenhand" ]] || exit 9',
    '_evenhand',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n');
  return run('bash', ['--norc', '-eu', '-c', script])
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

/** Returns the completions that fish offers for each line, without their descriptions. */
function fish(lines: readonly string[]): string[][] {
  const asked = lines.map((line) => `complete -C '${line}'; echo @@end`).join('; ');
  return run('fish', ['--no-config', '-c', `source evenhand.fish; ${asked}`])
    .split('@@end\n')
    .slice(0, -1)
    .map((text) =>
      text
        .split('\n')
        .flatMap((each) => (each === '' ? [] : [each.split('\t')[0] ?? '']))
        .sort(),
    );
}

/**
 * Returns the completions that zsh adds for each line, which is typed in a pseudo-terminal and followed by Tab. The
 * completions are written to a file, because the terminal shows keys twice if they come before zsh is ready. For the same
 * reason, the next line is typed only after the completion has ended.
 */
function zsh(lines: readonly string[]): string[][] {
  const output = path.join(folder(), 'zsh.txt');
  const setup = path.join(folder(), 'setup.zsh');
  writeFileSync(output, '');
  writeFileSync(
    setup,
    `PS1= LISTMAX=9999
autoload -U compinit; compinit -u -D
source ./evenhand.zsh
compadd () { local -a found; builtin compadd -O found "$@"; print -rl -- $found >>./zsh.txt; builtin compadd "$@" }
complete-and-tell () { zle expand-or-complete; print -r -- @@end >>./zsh.txt; print -r -- @@done }
zle -N complete-and-tell
bindkey '^I' complete-and-tell
print -r -- @@ready
`,
  );
  const program = `
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell 'source ./setup.zsh'
zpty -r shell text '*@@ready*'
${lines.map((line) => `zpty -w -n shell $'\\C-u${line}\\t'; zpty -r shell text '*@@done*'`).join('\n')}
zpty -d shell`;
  const { status, stderr } = spawnSync('zsh', ['-f', '-c', program], {
    cwd: folder(),
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(status, stderr).to.equal(0);
  return readFileSync(output, 'utf8')
    .split('@@end\n')
    .slice(0, -1)
    .map((text) => [...new Set(text.split('\n').filter((word) => word !== ''))].sort());
}

/** The cases: the words of a line, the last one being completed, and what is offered for it. */
const CASES: readonly (readonly [title: string, words: readonly string[], expected: readonly string[]])[] = [
  ['commands by their start', ['val'], ['validate']],
  ['a command that begins like another', ['pi'], ['pipeline']],
  ['subcommands', ['config', ''], ['check', 'help', 'schema']],
  ['options by their start', ['validate', '--ci-m'], ['--ci-method']],
  ['options of a subcommand', ['config', 'check', '--pro'], ['--profile']],
  ['options after options with values', ['validate', '--csv', 'rows.csv', '--y-p'], ['--y-pred']],
  [
    'choices that the schema of a command lists',
    ['validate', '--ci-method', ''],
    ['bca', 'percentile', 'simultaneous'],
  ],
  ['choices by their start', ['validate', '--ci-method', 'p'], ['percentile']],
  ['choices that the option itself lists', ['config', 'schema', '--kind', ''], ['gates', 'llm-eval', 'pipeline']],
  ['choices of an argument', ['sample-data', ''], ['berkeley', 'cps-wages']],
  ['shells', ['completion', ''], ['bash', 'fish', 'zsh']],
  ['nothing for a value that only the user knows', ['validate', '--seed', ''], []],
  ['nothing for an unknown command', ['valldate', '--cs'], []],
  ['nothing for a command that is the value of an option', ['validate', '--y-pred', 'config', 'sch'], []],
];

describe('evenhand completion bash', () => {
  for (const [title, words, expected] of CASES) {
    it(`offers ${title}`, () => {
      expect(bash(...words)).to.deep.equal([...expected]);
    });
  }

  it('offers every command that --help lists', async () => {
    const { stdout } = await runCli(['--help']);
    const listed = [...(stdout.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
    expect(listed.length).to.be.above(16);
    expect(bash('')).to.include.members(listed);
  });

  it('offers every option that the help of a command lists', async () => {
    const { stdout } = await runCli(['monitor', '--help']);
    // A line of text may begin with an option that is also listed.
    const listed = [...new Set([...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z][\w-]*)/gm)].map(([, flag]) => flag))];
    expect(listed.length).to.be.above(20);
    expect(bash('monitor', '--')).to.have.members(listed);
  });

  it('offers files for paths, also with spaces in their names', () => {
    expect(bash('validate', '--csv', '')).to.include.members(['rows.csv', 'two words.csv', 'reports']);
    expect(bash('validate', '--csv', 'tw')).to.deep.equal(['two words.csv']);
  });

  it('offers only folders for a folder', () => {
    expect(bash('run-pipeline', '--output-dir', '')).to.deep.equal(['reports']);
  });

  it('completes the value of --option=value', () => {
    expect(bash('validate', '--ci-method', '=', 'b')).to.deep.equal(['bca']);
    expect(bash('validate', '--csv', '=')).to.include('rows.csv');
  });

  it('is a script of at most 20 KiB', async () => {
    const { stdout } = await runCli(['completion', 'bash']);
    expect(Buffer.byteLength(stdout)).to.be.below(20 * 1024);
  });
});

/** Runs the cases in a shell if it is installed; in one process, because starting zsh's completion takes a second. */
function inShell(shell: string, complete: (lines: readonly string[]) => string[][]): void {
  describe(`evenhand completion ${shell}`, () => {
    const cases = [...CASES, ['files for paths', ['validate', '--csv', 'ro'], ['rows.csv']] as const];
    let offered: string[][] = [];
    before(function () {
      if (spawnSync(shell, ['--version']).status === 0) {
        offered = complete(cases.map(([, words]) => `evenhand ${words.join(' ')}`));
        return;
      }
      console.log(`      skipped: ${shell} is not installed`);
      this.skip();
    });
    for (const [index, [title, , expected]] of cases.entries()) {
      it(`offers ${title}`, () => {
        expect(offered[index]).to.deep.equal([...expected]);
      });
    }
  });
}

inShell('zsh', zsh);
inShell('fish', fish);

describe('evenhand completion', () => {
  it('says in its help where the script goes in each shell', async () => {
    const { stdout } = await runCli(['completion', '--help']);
    for (const file of ['~/.bashrc', '~/.zshrc', '~/.config/fish/completions/evenhand.fish']) {
      expect(stdout).to.include(file);
    }
  });

  it('exits with 2 for an unknown shell, and names the known ones', async () => {
    const { code, stderr } = await runCli(['completion', 'tcsh']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/bash, zsh, fish/);
  });

  it('prints the script as JSON with --json', async () => {
    const { stdout } = await runCli(['completion', 'bash', '--json']);
    expect(JSON.parse(stdout)).to.include.all.keys('shell', 'script');
  });
});
