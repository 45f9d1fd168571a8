import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect } from 'chai';

import { validateRows, validateSql } from '../../src/integration/index.ts';
import { builtFile } from '../../src/internal/packages.ts';
import { createSqlEngine, type QuerySource, type SqlEngine } from '../../src/io/index.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { reduceClassification } from '../../src/metrics/reduce/reduce-classification.ts';
import { reduceRegression } from '../../src/metrics/reduce/reduce-regression.ts';
import { reduceScores } from '../../src/metrics/reduce/reduce-scores.ts';
import {
  reduceClassificationSource,
  reduceRegressionSource,
  reduceScoreSource,
  type SourceStats,
} from '../../src/metrics/reduce/reduce-source.ts';
import type { GroupStats } from '../../src/metrics/statistics/group-stats.ts';
import { withRowStream } from '../../src/io/row-stream.ts';
import { replay, replaySql } from '../../src/monitoring/index.ts';
import { runDetectors, runPipeline, weightsSql } from '../../src/pipeline/index.ts';
import { Table } from '../../src/table/index.ts';
import { calibrateSql, calibrateTable } from '../../src/training/index.ts';
import { countWire, ENGINE_PASSWORD, type RunningEngine } from './engines.ts';
import { HOSTILE_ATTRIBUTES, HOSTILE_COLUMNS, HOSTILE_LABELS, hostileRows } from './hostile-rows.ts';
import { joinLines, runCli } from './run-cli.ts';
import { assertSameReport, assertSameStats } from './stats.ts';

/** The name of the table with {@link hostileRows}. */
const TABLE = 'odd "rows"';

/** Asserts that the statistics of an attribute are those of its rows. */
function same<Stats extends GroupStats>(reduced: readonly SourceStats<Stats>[], index: number, rows: Stats): void {
  const own = reduced[index]?.stats;
  if (own === undefined) throw new Error(`There is no attribute ${String(index)}.`);
  assertSameStats(own, rows);
}

const PASSWORD = { EVENHAND_SQL_PASSWORD: ENGINE_PASSWORD };

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Returns the error of work that must fail. */
export async function errorOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('There is no error.');
    },
    (error: unknown) => error as Error,
  );
}

/** Checks that an engine gives the statistics of {@link hostileRows} in arrays. */
export function countsSuite(source: () => QuerySource): void {
  const table = hostileRows();
  const columns = table.toColumns();
  const column = (name: string) => columns[name] ?? [];
  const attributes = HOSTILE_ATTRIBUTES;
  const sensitive = [column('eh_k0'), { known: column('known'), level: column('level') }, column('level')];
  for (const nanPolicy of ['exclude', 'include'] as const) {
    for (const sampleWeight of [undefined, 'w']) {
      const request = { attributes, nanPolicy, sampleWeight };
      const rows = { nanPolicy, sampleWeight: sampleWeight === undefined ? undefined : column(sampleWeight) };
      const how = `${nanPolicy} missing groups${sampleWeight === undefined ? '' : ', weighted'}`;

      it(`decisions, labels, scores and numbers, ${how}`, async () => {
        const decisions = await reduceClassificationSource(source(), { ...request, yPred: 'hired', yTrue: 'y' });
        const labels = await reduceClassificationSource(source(), {
          ...request,
          yPred: 'class "x"',
          positiveLabel: 'yes',
        });
        const decided = await reduceClassificationSource(source(), { ...request, yPred: 'score', scoreThreshold: 0.3 });
        const scores = await reduceScoreSource(source(), { ...request, yScore: 'exact', yTrue: 'y' });
        const numbers = await reduceRegressionSource(source(), { ...request, yPred: 'p', yTrue: 't' });
        const atThreshold = column('score').map((score) => (score === null ? null : Number(Number(score) >= 0.3)));
        sensitive.forEach((own, index) => {
          const given = { ...rows, sensitive: own };
          same(decisions, index, reduceClassification({ ...given, yPred: column('hired'), yTrue: column('y') }));
          const positiveLabel = 'yes';
          same(labels, index, reduceClassification({ ...given, yPred: column('class "x"'), positiveLabel }));
          same(decided, index, reduceClassification({ ...given, yPred: atThreshold }));
          // The scores are multiples of 2^-14, so bins do not round them.
          const exact = reduceScores({ ...given, yScore: column('exact'), yTrue: column('y') });
          const own0 = scores[index]?.stats;
          expect(own0?.labels).to.deep.equal(exact.labels);
          expect(own0?.nDropped).to.deep.equal(exact.nDropped);
          same(numbers, index, reduceRegression({ ...given, yPred: column('p'), yTrue: column('t') }));
        });
      });
    }
  }

  it('a validation with gates, a control feature and warnings about labels equals that of the rows', async () => {
    const given = {
      metric: ['demographic_parity_difference<=0.5', 'equalized_odds_ratio'],
      minGroupSize: 5,
      seed: 3,
      positiveLabel: 'yes',
      yTruePositiveLabel: '1',
    };
    const names = { yPred: 'class "x"', yTrue: 'y', attributes: [['level']], control: ['known'] };
    const found = await validateSql(source(), { ...given, ...names });
    const expected = await validateRows({
      ...given,
      yPred: column('class "x"'),
      yTrue: column('y'),
      sensitive: { level: column('level') },
      control: { known: column('known') },
    });
    expect(plain(found)).to.deep.equal(plain(expected));
    expect(JSON.stringify(found.labels)).to.include('YES');
  });

  const LEVELS = ['a', "b'; --", 'B'];
  const CLUSTERED: readonly (readonly [what: string, columns: Record<string, string>, levels?: readonly string[]])[] = [
    ['clusters', { clusterCol: 'eh_k0' }],
    [
      'clusters of groups with several spellings',
      { clusterCol: 'eh_k0' },
      ['1', '2', '1.0', 'b', '1.00', '2.0', '1e0'],
    ],
    ['clusters within strata, with weights', { clusterCol: 'eh_k0', strataCol: 'hired', sampleWeightCol: 'w' }],
    ['clusters of decisions of scores', { clusterCol: 'eh_k0' }],
  ];
  for (const [what, columns, levels = LEVELS] of CLUSTERED) {
    it(`${what}: the intervals of the rows, from two levels of GROUP BY`, async () => {
      const { engine } = source();
      // Rows that have all columns, in clusters that cross groups.
      const rows = Array.from({ length: 400 }, (_, row) => ({
        eh_k0: `p${String(row % 37)}`,
        hired: `s${String((row % 37) % 3)}`,
        level: levels[(row * 17) % levels.length] as string,
        y: (row * 31) % 5 === 0 ? null : Number((row * 13) % 7 < 3),
        decision: row % 41 === 0 ? null : Number((row * 17 + (row % 37)) % 11 < 5),
        score: ((row * 29) % 64) / 64,
        w: 1 + (row % 4) / 4,
      }));
      const query = rows
        .map((row, index) => {
          const literal = (value: string | number | null): string =>
            value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
          return `SELECT ${Object.entries(row)
            .map(([name, value]) => `${literal(value)}${index === 0 ? ` AS ${name}` : ''}`)
            .join(', ')}`;
        })
        .join(' UNION ALL ');
      const isScore = what.includes('scores');
      const named = { attributes: [['level']], yTrue: 'y', minGroupSize: 10 };
      const { clusterCol: cluster, strataCol: strata, sampleWeightCol: sampleWeight } = columns;
      const found = await validateSql(
        { engine, query },
        { ...named, ...(isScore ? { score: 'score', scoreThreshold: 0.5 } : { yPred: 'decision' }), cluster, strata, sampleWeight }, // prettier-ignore
      );
      const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
      const expected = await validateRows({
        ...{ yTrue: column('y'), sensitive: { level: column('level') }, minGroupSize: 10 },
        ...(isScore ? { yScore: column('score'), scoreThreshold: 0.5 } : { yPred: column('decision') }),
        cluster: column('eh_k0'),
        strata: strata === undefined ? undefined : column('hired'),
        sampleWeight: sampleWeight === undefined ? undefined : column('w'),
      });
      for (const [metric, result] of Object.entries(expected.attributes['level'] ?? {})) {
        const own = found.attributes['level']?.[metric];
        expect(own?.value, metric).to.be.closeTo(result.value, 1e-12);
        expect(own?.nClusters, metric).to.deep.equal(result.nClusters);
        expect(own?.ci, metric).to.not.equal(null);
        for (const end of [0, 1]) expect(own?.ci?.[end], metric).to.be.closeTo(result.ci?.[end] ?? NaN, 1e-9);
      }
    });
  }

  it('a row without a cluster is one clear error', async () => {
    const { engine } = source();
    const query = "SELECT 1 AS d, 'a' AS g, 'p' AS person UNION ALL SELECT 0, 'b', NULL UNION ALL SELECT 1, 'b', 'q'";
    const request = { yPred: 'd', attributes: [['g']], cluster: 'person', minGroupSize: 1 };
    const error = await errorOf(validateSql({ engine, query }, request));
    expect(error.message).to.match(/'person' must hold a value in every row/);
  });

  it('classes of decisions, and metrics of scores', async () => {
    const options = { sensitiveCol: 'level', minGroupSize: 5 };
    const { engine, ...rows } = source();
    const names = { ...options, yPredCol: 'class "x"', yScoreCol: 'score', yTrueCol: 'y' };
    const bound = FairnessAnalyzer.fromSql(engine, rows, names);
    const native = FairnessAnalyzer.fromDataFrame(table, names);
    const macro = { average: 'macro' } as const;
    const [own, expected] = await Promise.all([
      bound.demographicParityDifference(macro),
      native.demographicParityDifference(macro),
    ]);
    expect(own.value).to.be.closeTo(expected.value, 1e-14);
    for (const metric of ['roc_auc_difference', 'log_loss_difference']) {
      const [binned, exact] = await Promise.all([bound.metric(metric), native.metric(metric)]);
      expect(binned.value, metric).to.be.closeTo(exact.value, metric.startsWith('log') ? 1e-12 : 1e-4);
      expect(exact.value, metric).to.be.above(0);
    }
  });

  it('calibration by group, up to the rounding of scores', async () => {
    const names = { score: 'score', target: 'y', group: 'level' };
    const options = { folds: 1, minSamples: 5 };
    const own = await calibrateSql(source(), names, options);
    const rows = await calibrateTable({ table, ...names }, options);
    expect([own.n, own.nDropped]).to.deep.equal([rows.n, rows.nDropped]);
    expect(own.after.groups.length).to.equal(rows.after.groups.length).and.above(2);
    for (const [index, group] of rows.after.groups.entries()) {
      const found = own.after.groups[index];
      expect(found).to.include({ group: group.group, n: group.n, positiveRate: group.positiveRate });
      for (const measure of ['meanScore', 'brierScore', 'logLoss'] as const)
        expect(found?.[measure], `${group.group} ${measure}`).to.be.closeTo(group[measure], 1e-3);
    }
  });
}

/** Checks a replay of rows that an engine counts by time: numbers of seconds since 1970. */
function replaySuite(source: () => QuerySource): void {
  it('a replay has the metrics of the complete rows', async () => {
    const columns = { yPred: 'hired', yTrue: 'y', protected: ['eh_k0', 'known'], timestamp: 'level' };
    const found = await replaySql(source(), { tracker: { columns } });
    const rows = hostileRows()
      .toRecords()
      .filter((row) => ['hired', 'eh_k0', 'known', 'level'].every((name) => row[name] !== null));
    const expected = await replay(rows, { tracker: { columns } });
    expect([found.nEvents, found.nDropped]).to.deep.equal([rows.length, 3000 - rows.length]);
    const cumulative = { window: 'cumulative' } as const;
    expect(found.tracker.metrics(cumulative)).to.have.deep.members([...expected.tracker.metrics(cumulative)]);
  });
}

/** Checks what an engine that knows the types of its columns returns for {@link hostileRows}: counts, facts and rows. */
export function rowsSuite(source: () => QuerySource): void {
  const table = hostileRows();
  countsSuite(source);
  replaySuite(source);

  it('detectors report the same as for the rows', async () => {
    const config = { sensitive: ['eh_k0', 'known', 'level'], intersections: [['known', 'level']] };
    const { report } = await runPipeline({ ...config, pipeline: [] }, table);
    assertSameReport(plain(await runDetectors(source(), config)), plain(report));
  });

  it('weighted rows have the weights of the rows in memory', async () => {
    const pipeline = [{ transformer: 'ReweighingTransformer', params: { label: 'class "x"' } }] as const;
    const config = { sensitive: ['eh_k0', 'known'], pipeline };
    const { result } = await runPipeline(config, table, { detectors: false });
    const { sql, weightColumn } = await weightsSql(source(), config);
    const { columns: names, rows } = await source().engine.query(sql);
    const weights = rows.map((row) => Number(row[names.indexOf(weightColumn)]));
    const expected = [...(result.sampleWeight as Float64Array)];
    expect(names.toSorted()).to.deep.equal([...table.columnNames, weightColumn].toSorted());
    expect(weights).to.have.length(expected.length);
    // The order of a table's rows in a database is not fixed.
    const inOrder = expected.sort((a, b) => a - b);
    weights.sort((a, b) => a - b).forEach((weight, row) => expect(weight).to.be.closeTo(inOrder[row] as number, 1e-12));
  });

  it('rows arrive in parts, exactly', async function () {
    if (source().engine.stream === undefined) {
      console.log('    skipped: this engine cannot return rows in parts');
      this.skip();
    }
    const names = ['p', 'level', 'class "x"', 'eh_k0'];
    const read = await withRowStream(source(), { columns: names, labels: [] }, async (rows) => {
      expect(rows.columns.map(({ kind }) => kind)).to.deep.equal(['numbers', 'numbers', 'texts', 'texts']);
      const found: string[] = [];
      for await (const chunk of rows.chunks()) {
        const numbers = [0, 1].map((index) => {
          const target = new Float64Array(chunk.rowCount);
          chunk.copyNumbers(index, target, 0);
          return target;
        });
        const texts = [2, 3].map((index) => chunk.texts(index));
        for (let row = 0; row < chunk.rowCount; row++)
          found.push(JSON.stringify([...numbers, ...texts].map((values) => values[row])));
      }
      return found;
    });
    const expected = table.toRecords().map((row) => JSON.stringify(names.map((name) => row[name])));
    expect(read.sort()).to.deep.equal(expected.sort());
  });
}

/** Creates a table with {@link hostileRows}. */
export async function createHostileRows({ create }: Pick<RunningEngine, 'create'>, table: string): Promise<void> {
  const rows = hostileRows()
    .toRecords()
    .map((row) => Object.values<unknown>(row) as (string | number | null)[]);
  await create(table, HOSTILE_COLUMNS, rows);
}

/** Checks an engine: its counts, names, limits, errors, and that it can end in the middle. */
export function engineSuite(running: () => RunningEngine): void {
  const table = hostileRows();
  const columns = table.toColumns();
  const column = (name: string) => columns[name] ?? [];
  let engine: SqlEngine;
  let source: QuerySource;

  before(async function () {
    this.timeout(120_000);
    await createHostileRows(running(), TABLE);
    engine = createSqlEngine(running().url, { password: ENGINE_PASSWORD });
    source = { engine, table: running().named(TABLE) };
  });
  after(() => engine.close());

  rowsSuite(() => source);

  it('a query is one statement that reads', async () => {
    const named = { yPred: 'hired', attributes: [['known']] };
    const query = `SELECT * FROM ${running().quoted(TABLE)} WHERE known = 'a'`;
    const { rows } = await validateSql({ engine, query: `${query};` }, named);
    expect(rows).to.equal(column('known').filter((value) => value === 'a').length);
    const hostile = [
      `${query}) AS q; DROP TABLE ${running().quoted(TABLE)}; --`,
      `SELECT 1 AS hired, 1 AS known) AS q GROUP BY 1; CREATE TABLE made_here (x integer); SELECT (1`,
      'DROP TABLE t',
      'SELECT * FROM no_such_table',
      'SELECT 1 AS other',
      '',
    ];
    for (const text of hostile) {
      const error = await errorOf(validateSql({ engine, query: text }, named));
      expect(error.name, text).to.be.oneOf(['DataValidationError', 'ConfigValidationError']);
    }
    expect((await validateSql(source, named)).rows).to.equal(table.rowCount);
    expect(String(await errorOf(engine.query('SELECT * FROM made_here')))).to.match(/made_here/);
  });

  it('hostile names of columns are names', async () => {
    const odd = HOSTILE_LABELS.filter((name) => !name.includes('__proto__'));
    const types = Object.fromEntries([...odd.map((name) => [name, 'text'] as const), ['hired', 'integer'] as const]);
    const rows = Array.from({ length: 40 }, (_, row) => [
      ...odd.map((name) => (row % 2 === 0 ? name : 'other')),
      row % 4 < 2 ? 1 : 0,
    ]);
    await running().create('odd names', types, rows);
    const given = Table.from(
      rows.map((row) => Object.fromEntries(Object.keys(types).map((name, index) => [name, row[index] ?? null]))),
    );
    for (const name of odd) {
      const reduced = await reduceClassificationSource(
        { engine, table: running().named('odd names') },
        { attributes: [[name]], yPred: 'hired', nanPolicy: 'exclude' },
      );
      const own = given.toColumns();
      same(reduced, 0, reduceClassification({ yPred: own['hired'] ?? [], sensitive: own[name] ?? [] }));
    }
  });

  it('labels that look alike, or are very long, or contain control characters, stay different', async () => {
    const long = 'x'.repeat(65_536);
    const labels = [
      ...[
        'a',
        '\u0430',
        'a ',
        ' a',
        'A',
        '\u00e9',
        'e\u0301',
        'K',
        '\u212A',
        'a\u200b',
        'a\tb',
        'a\nb',
        'a\r\nb',
        "''",
        '\\',
      ],
      ...[`${long}y`, `${long}z`, ...(running().storesNul ? ['nul\0a', 'nul\0b', 'nul'] : [])],
    ];
    const rows = labels.flatMap((label, index) => [
      [label, 1],
      [label, index % 2],
    ]);
    await running().create('odd labels', { g: 'text', hired: 'integer' }, rows);
    const [yPred, sensitive] = [rows.map(([, hired]) => hired as number), rows.map(([label]) => label as string)];
    const reduced = await reduceClassificationSource(
      { engine, table: running().named('odd labels') },
      { attributes: [['g']], yPred: 'hired', nanPolicy: 'exclude' },
    );
    expect(reduced[0]?.stats.labels).to.have.members(labels);
    same(reduced, 0, reduceClassification({ yPred, sensitive }));
  });

  it('stops a statement at a signal, and at its time limit', async () => {
    const slow = running().slowQuery;
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 300);
    const start = performance.now();
    const aborted = await errorOf(engine.query(slow, { signal: controller.signal }));
    expect(aborted.name).to.equal('AbortError');
    expect(performance.now() - start).to.be.below(10_000);
    const hurried = createSqlEngine(running().url, { password: ENGINE_PASSWORD, timeoutSeconds: 1 });
    const late = await errorOf(hurried.query(slow));
    expect(late.message, late.stack).to.match(/did not finish counting within 1 second/);
    await hurried.close();
    for (let attempt = 0; attempt < 50 && (await running().running()) > 0; attempt++) await sleep(100);
    expect(await running().running(), 'statements that still run').to.equal(0);
  });

  const measured = ['--y-pred', 'hired', '--sensitive', 'known'];

  it('the command line: the result of the rows, and no password in it', async () => {
    const data = ['--sql', running().url, '--table', running().named(TABLE), '--json', '--verbose'];
    const { stdout, stderr, code } = await runCli(['validate', ...data, ...measured], { env: PASSWORD });
    expect(code, stderr).to.equal(0);
    const { attributes } = await validateSql(source, { yPred: 'hired', attributes: [['known']] });
    const value = attributes['known']?.['demographic_parity_difference']?.value;
    expect(stdout).to.include(`"value": ${String(value)}`);
    expect(stdout + stderr).to.not.include('hush');
    const wrong = await runCli(['validate', ...data, ...measured], { env: { EVENHAND_SQL_PASSWORD: 'wrong-one' } });
    expect([wrong.code, wrong.stdout]).to.deep.equal([2, '']);
    expect(joinLines(wrong.stderr))
      .to.match(/does not accept the user or the password/)
      .and.not.match(/wrong-one/);
  });

  it('the command line: Ctrl-C stops the statement', async () => {
    const args = ['validate', '--sql', running().url, '--query', running().slowQuery, ...measured];
    const child = spawn(process.execPath, [builtFile('cli/main.js'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...PASSWORD },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += String(part)));
    try {
      // A statement that only asks for the columns ends at once: the one that counts is still there a while later.
      let checks = 0;
      for (let attempt = 0; attempt < 150 && checks < 3; attempt++) {
        checks = (await running().running()) === 1 ? checks + 1 : 0;
        await sleep(200);
      }
      expect(checks, `checks in a row that saw one statement. ${output}`).to.equal(3);
      child.kill('SIGINT');
      const [code] = (await once(child, 'exit')) as [number];
      expect([code, output]).to.satisfy(
        () => code === 130 && /^Interrupted|^warning: Interrupted/i.test(output),
        output,
      );
    } finally {
      child.kill('SIGKILL');
    }
    for (let attempt = 0; attempt < 50 && (await running().running()) > 0; attempt++) await sleep(100);
    expect(await running().running(), 'statements that still run').to.equal(0);
  });

  it('5 million rows: counts exactly, sums to 1e-12, and under 100 kB from the engine @slow', async function () {
    this.timeout(600_000);
    const count = 5_000_000;
    const { literal } = running();
    const labels = HOSTILE_LABELS.slice(0, 8);
    const pick = (column: string, values: readonly string[]): string =>
      `CASE ${values.map((value, code) => `WHEN ${column} = ${String(code)} THEN ${literal(value)}`).join(' ')} END`;
    // Group 8 and level 5 are missing values, as every 101st weight is.
    await running().createSeries(
      'many rows',
      { g: 'text', level: 'text', hired: 'integer', y: 'integer', w: 'double' },
      count,
      [
        pick('(i * 7919 + 13) % 9', labels),
        pick('(i * 104729 + 7) % 6', ['a', 'b', 'c', 'd', 'e']),
        '(i * 31 + 5) % 97 % 2',
        'CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 17 + 3) % 89 % 2 END',
        'CASE WHEN i % 101 = 0 THEN NULL ELSE (i % 997) * 0.001e0 END',
      ],
    );
    const column = <T>(make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
    const g = column((i) => labels[(i * 7919 + 13) % 9] ?? null);
    const level = column((i) => ['a', 'b', 'c', 'd', 'e'][(i * 104729 + 7) % 6] ?? null);
    const given = {
      yPred: column((i) => ((i * 31 + 5) % 97) % 2),
      yTrue: column((i) => (i % 13 === 0 ? null : ((i * 17 + 3) % 89) % 2)),
      sampleWeight: column((i) => (i % 101 === 0 ? null : (i % 997) * 0.001)),
    };
    const wire = await countWire(running().url);
    const counting = createSqlEngine(wire.url, { password: ENGINE_PASSWORD });
    const seconds: string[] = [];
    for (const sampleWeight of [undefined, 'w']) {
      const start = performance.now();
      const reduced = await reduceClassificationSource(
        { engine: counting, table: running().named('many rows') },
        { attributes: [['g', 'level'], ['g']], yPred: 'hired', yTrue: 'y', sampleWeight, nanPolicy: 'exclude' },
      );
      seconds.push(((performance.now() - start) / 1000).toFixed(1));
      const rows = { ...given, sampleWeight: sampleWeight === undefined ? undefined : given.sampleWeight };
      same(reduced, 0, reduceClassification({ ...rows, sensitive: { g, level } }));
      same(reduced, 1, reduceClassification({ ...rows, sensitive: g }));
    }
    await counting.close();
    wire.close();
    console.log(`      ${String(wire.bytes())} bytes in both directions; ${seconds.join(' s, with weights ')} s`);
    expect(wire.bytes()).to.be.within(1000, 100_000);
  });

  it('rows that are not read to their end: the connection ends', async () => {
    const wire = await countWire(running().url);
    const reading = createSqlEngine(wire.url, { password: ENGINE_PASSWORD });
    let parts = 0;
    for await (const part of reading.stream?.(`SELECT * FROM ${running().quoted(TABLE)}`) ?? []) {
      expect(part).to.have.length.above(0);
      parts += 1;
      break;
    }
    expect(parts).to.equal(1);
    // HTTP clients keep an idle connection for some seconds.
    for (let attempt = 0; attempt < 150 && wire.connections() > 0; attempt++) await sleep(100);
    expect(wire.connections()).to.equal(0);
    await reading.close();
    wire.close();
  });

  it('an engine that ends in the middle: one clear error, and no result', async () => {
    const pending = errorOf(
      validateSql({ engine, query: running().slowOver(TABLE) }, { yPred: 'hired', attributes: [['known']] }),
    );
    for (let attempt = 0; attempt < 600 && (await running().running()) === 0; attempt++) await sleep(50);
    await running().kill();
    const error = await pending;
    expect(error.name).to.equal('DataValidationError');
    expect(error.message).to.match(/lost a connection or a server before the result arrived, twice|does not answer/);
    expect(error.message).to.not.match(/undefined|\n/);
    await running().start();
    expect((await validateSql(source, { yPred: 'hired', attributes: [['known']] })).rows).to.equal(table.rowCount);
  });
}
