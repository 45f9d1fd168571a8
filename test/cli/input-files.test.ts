import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { writeTemporaryFile } from '../../src/io/temporary-file.ts';
import { runDuckDb } from '../helpers/duckdb.ts';
import { type CliRun, runCli, useTemporaryFolder } from '../helpers/run-cli.ts';

const folder = useTemporaryFolder();

const HEADER = 'id,sex,decision,truth,score,x,arm,when';
const ROWS = Array.from({ length: 600 }, (_, row) => {
  const sex = (row * 7) % 5 < 2 ? 'f' : 'm';
  const decision = (row * 13) % 11 < (sex === 'f' ? 4 : 7) ? 1 : 0;
  const truth = (row * 17) % 10 < 6 ? decision : 1 - decision;
  const when = new Date(Date.UTC(2026, 0, 1) + 60_000 * row).toISOString();
  return `${String(row)},${sex},${String(decision)},${String(truth)},${String((row % 97) / 97)},${String((row * 31) % 19)},${row % 2 === 0 ? 'a' : 'b'},${when}`;
});
const text = (rows: readonly string[], header = HEADER): string => [header, ...rows, ''].join('\n');

function write(name: string, content: string): string {
  const file = path.join(folder(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const thirds = [ROWS.slice(0, 100), ROWS.slice(100, 350), ROWS.slice(350)];

/** Writes the rows in each form, and returns the arguments of the input option. */
async function writeForms(): Promise<Record<string, string[]>> {
  const parts = thirds.map((rows, index) => write(`parts/${String(index)}.csv`, text(rows)));
  mkdirSync(path.join(folder(), 'parquet'), { recursive: true });
  for (const [index, part] of parts.entries()) {
    const target = path.join(folder(), `parquet/${String(index)}.parquet`);
    // Explicit types, because f would become false.
    await runDuckDb(
      `COPY (SELECT * FROM read_csv('${part}', auto_type_candidates=['BIGINT', 'DOUBLE', 'VARCHAR'])) TO '${target}'`,
    );
  }
  const [ofF, ofM] = ['f', 'm'].map((sex) =>
    ROWS.filter((row) => row.split(',')[1] === sex).map((row) => row.replace(`,${sex},`, ',')),
  ) as [string[], string[]];
  const header = HEADER.replace('sex,', '');
  write('hive/sex=f/part.csv', text(ofF, header));
  write('hive/sex=m/part.csv', text(ofM, header));
  return {
    'three files': parts,
    'a glob': [path.join(folder(), 'parts/*.csv')],
    'a folder': [path.join(folder(), 'parts')],
    'a folder of Parquet files': [path.join(folder(), 'parquet')],
    'a partitioned folder': [path.join(folder(), 'hive')],
    stdin: ['-'],
    'stdin and a file': ['-', parts[2] as string],
  };
}

/** The commands that read rows, with options that need no further files. `--csv` follows. */
const COMMANDS: Readonly<Record<string, string[]>> = {
  validate: ['--y-pred', 'decision', '--y-true', 'truth', '--sensitive', 'sex', '--with-ci'],
  'ab-test': ['--outcome', 'decision', '--y-true', 'truth', '--sensitive', 'sex', '--arm', 'arm'],
  'impact-ratio': ['--score', 'score', '--sex', 'sex', '--race-ethnicity', 'arm'],
  calibrate: ['--score', 'score', '--target', 'truth', '--group', 'sex', '--folds', '1'],
  monitor: ['--y-pred', 'decision', '--sensitive', 'sex', '--timestamp', 'when'],
  'train-reductions': ['--target', 'truth', '--sensitive', 'sex', '--features', 'x,score', '--T', '2'],
};

/** Returns the JSON output of a run without durations, rounded since sums depend on the order of rows. */
function numbersOf({ stdout, stderr, code }: CliRun): unknown {
  expect(stderr).not.to.include('error');
  expect(code).to.be.oneOf([0, 1]);
  return JSON.parse(stdout, (key, value: unknown) =>
    // The manifest names the files.
    key === 'seconds' || key === 'manifest'
      ? undefined
      : typeof value === 'number'
        ? Number(value.toPrecision(9))
        : value,
  );
}

describe('the rows of several files', () => {
  for (const [command, options] of Object.entries(COMMANDS)) {
    it(`give ${command} the same result as one file`, async () => {
      const one = write('one.csv', text(ROWS));
      const expected = numbersOf(await runCli([command, '--csv', one, ...options, '--json']));
      for (const [form, paths] of Object.entries(await writeForms())) {
        // The order of rows determines folds and batches, and the sum of the first rows of stdin and a file.
        if (form === 'a partitioned folder' && ['train-reductions', 'calibrate'].includes(command)) continue;
        const input = paths.length === 2 ? text(ROWS.slice(0, 350)) : text(ROWS);
        const args = [command, ...paths.flatMap((each) => ['--csv', each]), ...options, '--json'];
        expect(numbersOf(await runCli(args, { input })), form).to.deep.equal(expected);
      }
    });
  }

  for (const [command, options] of Object.entries(COMMANDS)) {
    it(`may have decimal commas for ${command}`, async () => {
      const commas = ROWS.map((row) => row.replaceAll(',', ';').replace(/;0\.(\d+)/, ';0,$1'));
      const file = write('commas.csv', text(commas, HEADER.replaceAll(',', ';')));
      const [expected, found] = [
        await runCli([command, '--csv', write('one.csv', text(ROWS)), ...options, '--json']),
        await runCli([command, '--csv', file, '--decimal', ',', ...options, '--json']),
      ];
      expect(numbersOf(found)).to.deep.equal(numbersOf(expected));
    });
  }

  it('are warned about if --decimal , has no effect, and say which decimal separator a number needs', async () => {
    const args = ['--y-true', 'truth', '--sensitive', 'sex'];
    const commas = write('one.csv', text(ROWS));
    const useless = await runCli(['validate', '--csv', commas, '--y-pred', 'decision', ...args, '--decimal', ','], {
      env: { EVENHAND_LOG_LEVEL: 'warn' },
    });
    expect(useless.code).to.equal(0);
    expect(useless.stderr.match(/decimal separator ',' has no effect on '[^']*one.csv'/g)).to.have.length(1);
    const quoted = write('quoted.csv', text(ROWS.map((row) => row.replace(/,0\.(\d+)/, ',"0,$1"'))));
    const scored = await runCli(['validate', '--csv', quoted, '--score', 'score', ...args, '--decimal', ',']);
    expect([scored.code, scored.stderr]).to.deep.equal([0, '']);
    const without = await runCli(['validate', '--csv', quoted, '--score', 'score', ...args]);
    expect(without.stderr).to.match(
      /holds '0,\d+'\. If the comma is a decimal comma, write a point, or read the file with --decimal , \(/,
    );
    const points = await runCli(['validate', '--csv', commas, '--score', 'score', ...args, '--decimal', ',']);
    expect(points.stderr).to.match(/holds '0\.\d+'\. The decimal separator is a comma: without --decimal , a point/);
  });

  it('that begin with the separator line of Excel are an error, whichever reader has the file', async () => {
    const file = write('excel.csv', `sep=;\n${text(ROWS.map((row) => row.replaceAll(',', ';')), HEADER.replaceAll(',', ';'))}`); // prettier-ignore
    const args = ['--csv', file, '--y-pred', 'decision', '--sensitive', 'sex'];
    for (const more of [[], ['--decimal', ',']]) {
      const { code, stderr } = await runCli(['validate', ...args, ...more]);
      expect(code).to.equal(2);
      expect(stderr).to.match(/its first line is 'sep=;', which only Excel reads\. Remove this line/);
    }
  });

  it('with a decimal comma, labels with a point are an error, also with a positive label and in blocks', async () => {
    const pointed = ROWS.map((row) =>
      row
        .replaceAll(',', ';')
        .replace(/;0\.(\d+)/, ';0,$1')
        .replace(/;1;/, ';1.0;'),
    );
    const file = write('pointed.csv', text(pointed, HEADER.replaceAll(',', ';')));
    const label = ['--positive-label', '1'];
    const commands = [
      ['validate', '--y-pred', 'decision', '--sensitive', 'sex', ...label],
      ['train-reductions', '--target', 'decision', '--features', 'score', '--sensitive', 'sex', ...label],
      [
        'train-reductions',
        '--target',
        'decision',
        '--features',
        'score',
        '--sensitive',
        'sex',
        ...label,
        '--in-blocks',
      ],
    ];
    for (const [command = '', ...options] of commands) {
      const { code, stderr } = await runCli([command, '--csv', file, '--decimal', ',', ...options]);
      expect(code, command).to.equal(2);
      expect(stderr).to.match(/^error: Column 'decision' holds '1\.0'.*, which contains a point, .* is a comma\./);
      expect(stderr).to.include("Write '1' or '1,0'. If points separate the decimals of this file, leave out");
      expect(stderr).to.include('leave out the decimal separator (--decimal).');
    }
  });

  it('are named in the report', async () => {
    const forms = await writeForms();
    const sourceOf = async (paths: readonly string[]): Promise<string | undefined> => {
      const args = [
        'validate',
        ...paths.flatMap((each) => ['--csv', each]),
        '--y-pred',
        'decision',
        '--sensitive',
        'sex',
      ];
      const { stdout } = await runCli(args, { input: text(ROWS), cwd: folder() });
      return /^Source: ([^]*?)\n\n/m.exec(stdout)?.[1]?.replaceAll('\n', ' ');
    };
    expect(await sourceOf(['parts/*.csv'])).to.equal("3 files matching 'parts/*.csv'");
    expect(await sourceOf(['hive'])).to.equal("2 files in 'hive'");
    expect(await sourceOf(['-'])).to.equal('stdin');
    expect(await sourceOf(['parts/0.csv', 'parts/1.csv'])).to.equal("2 files: 'parts/0.csv', 'parts/1.csv'");
    expect(await sourceOf(forms['three files'] as string[])).to.match(/^3 files: '.*0\.csv', '.*1\.csv', '.*2\.csv'$/);
    expect(await sourceOf(['parts/1.csv'])).to.equal('parts/1.csv');
  });

  it('are never replaced by an output', async () => {
    const paths = (await writeForms())['three files'] as string[];
    const [, second = ''] = paths;
    const before = readFileSync(second, 'utf8');
    const { code, stderr } = await runCli([
      ...[
        'calibrate',
        '--csv',
        path.join(folder(), 'parts'),
        '--score',
        'score',
        '--target',
        'truth',
        '--group',
        'sex',
      ],
      ...['--out-csv', second],
    ]);
    expect(code).to.equal(2);
    expect(stderr).to.include(`would replace the input '${second}'`);
    expect(readFileSync(second, 'utf8')).to.equal(before);
  });

  it('cannot be in both arms of an A/B test', async () => {
    await writeForms();
    const { stderr } = await runCli(
      [
        'ab-test',
        '--control-csv',
        'parts',
        '--treatment-csv',
        'parts/[12].csv',
        '--outcome',
        'decision',
        '--sensitive',
        'sex',
      ],
      { cwd: folder() },
    );
    expect(stderr).to.include("both contain the file 'parts/1.csv'");
  });
});

describe('the input option', () => {
  const refused: [title: string, paths: string[], message: string][] = [
    ['stdin twice', ['-', '-'], "'-' (stdin) is given twice, but stdin can be read only once."],
    ['empty stdin', ['-'], "Cannot read 'stdin': the file is empty."],
    ['a glob without a match', ['none/*.csv'], "Cannot read 'none/*.csv': no file matches it."],
    ['a file twice', ['one.csv', './one.csv'], "Cannot read './one.csv': it is the same file as 'one.csv'"],
    ['a missing file', ['one.csv', 'none.csv'], "Cannot read 'none.csv': there is no such file."],
  ];
  for (const [title, paths, message] of refused) {
    it(`rejects ${title} with one line`, async () => {
      write('one.csv', text(ROWS));
      const args = [
        'validate',
        ...paths.flatMap((each) => ['--csv', each]),
        '--y-pred',
        'decision',
        '--sensitive',
        'sex',
      ];
      const { code, stderr } = await runCli(args, { cwd: folder() });
      expect(code).to.equal(2);
      expect(stderr).to.include(message);
      expect(stderr.trim().split('\n')).to.have.length(1);
    });
  }

  it('says how to write a glob that the shell has expanded', async () => {
    const { stderr } = await runCli(['validate', '--csv', 'a.csv', 'b.csv', '--y-pred', 'p', '--sensitive', 's']);
    expect(stderr).to.include('Put a glob in quotes, or repeat --csv for each file.');
  });

  it('rejects a pipe with a name, which cannot be read twice', async () => {
    const pipe = path.join(folder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { stderr } = await runCli(['validate', '--csv', pipe, '--y-pred', 'p', '--sensitive', 's']);
    expect(stderr).to.include("pipe': it is not a regular file.");
  });
});

describe('rows from stdin', () => {
  const spooled = (): string[] =>
    readdirSync(tmpdir()).filter((name) => existsSync(path.join(tmpdir(), name, 'stdin')));

  it('leave no file, whether the command succeeds or fails', async () => {
    const before = spooled();
    await runCli(['validate', '--csv', '-', '--y-pred', 'decision', '--sensitive', 'sex'], { input: text(ROWS) });
    await runCli(['validate', '--csv', '-', '--y-pred', 'nope', '--sensitive', 'sex'], { input: text(ROWS) });
    expect(spooled()).to.deep.equal(before);
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`leave no file at ${signal}`, async () => {
      const own = mkdtempSync(path.join(folder(), 'tmp-'));
      const isSpooled = new Promise<void>((resolve) => {
        const watcher = watch(own, { persistent: false }, () => {
          watcher.close();
          resolve();
        });
      });
      const cli = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
      const args = [cli, 'validate', '--csv', '-', '--y-pred', 'decision', '--sensitive', 'sex'];
      const child = spawn(process.execPath, args, {
        env: { ...process.env, TMPDIR: own },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      await isSpooled;
      child.kill(signal);
      const [exit] = (await once(child, 'close')) as [number | null];
      expect(exit).to.equal(code);
      expect(readdirSync(own)).to.deep.equal([]);
    });
  }

  it('are bounded, and the part that was written is removed', async () => {
    const before = spooled();
    const rows = Readable.from([Buffer.alloc(600), Buffer.alloc(600)]);
    const error = await writeTemporaryFile(rows, { name: 'stdin', maxBytes: 1000 }).catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as Error).message).to.equal('stdin has more than 1,000 bytes.');
    expect(spooled()).to.deep.equal(before);
  });
});
