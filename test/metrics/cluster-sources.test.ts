import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { loadData, openDuckDb } from '../../src/io/index.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';
import { CLUSTERED_METRICS } from '../helpers/stats.ts';

describe('clusters of dependent rows in files and tables', () => {
  const folder = useTemporaryFolder();
  const SOURCES = [
    { clusterCol: 'c' },
    { clusterCol: 'c', strataCol: 'h' },
    { strataCol: 'h' },
    { clusterCol: 'c', strataCol: 'h', sampleWeightCol: 'w' },
    { clusterCol: 'c', nanPolicy: 'include' },
    { clusterCol: 'c', sensitiveCol: ['g', 'k'] },
  ] as const;

  /** @param spellings the texts of the three groups, used in turn */
  function write(spellings: readonly (readonly string[])[] = [['a'], ['b'], ['c']]): string {
    const random = createRandom(21);
    const lines = ['y,t,s,g,k,c,h,w'];
    for (let cluster = 0; cluster < 300; cluster++) {
      const level = random.next();
      const size = 1 + Math.floor(12 * random.next());
      for (let row = 0; row < size; row++) {
        const truth = random.next() < 0.1 ? '' : Number(random.next() < 0.5);
        const texts = random.next() < 0.03 ? [''] : (spellings[Math.floor(random.next() * 3)] ?? []);
        const group = texts[row % texts.length];
        const score = (0.5 * level + 0.5 * random.next()).toFixed(3);
        const weight = random.next() < 0.02 ? '' : (0.5 + random.next()).toFixed(2);
        lines.push([Number(random.next() < level), truth, score, group, 'xy'[row % 2], `p${String(cluster)}`, `h${String(cluster % 7)}`, weight].join()); // prettier-ignore
      }
    }
    const file = path.join(folder(), 'rows.csv');
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  }

  for (const source of SOURCES) {
    it(`are counted by DuckDB as in arrays: ${JSON.stringify(source)}`, async () => {
      const file = write();
      const columns = {
        yPredCol: 'y',
        yTrueCol: 't',
        yScoreCol: 's',
        sensitiveCol: 'g',
        minGroupSize: 10,
        ...source,
      };
      const engine = openDuckDb();
      const table = FairnessAnalyzer.fromDataFrame(await loadData(file), columns);
      const analyzers = {
        file: FairnessAnalyzer.fromFile(file, columns),
        query: FairnessAnalyzer.fromSql(engine, { query: `SELECT * FROM '${file}' ORDER BY hash(c, y, s)` }, columns),
        danfo: FairnessAnalyzer.fromDataFrame(await loadData(file), { ...columns, backend: 'danfo' }),
      };
      for (const metric of CLUSTERED_METRICS) {
        const expected = await table.metric(metric);
        expect(expected.ci, metric).to.not.equal(null);
        for (const [name, analyzer] of Object.entries(analyzers)) {
          const { value, ci, nClusters } = await analyzer.metric(metric);
          expect(value, `${name} ${metric}`).to.be.closeTo(expected.value, 1e-12);
          for (const end of [0, 1])
            expect(ci?.[end], `${name} ${metric}`).to.be.closeTo(expected.ci?.[end] ?? NaN, 1e-9);
          expect(nClusters, `${name} ${metric}`).to.deep.equal(expected.nClusters);
        }
      }
      await engine.close();
    });
  }

  it('are counted once for a group with several spellings of its number', async () => {
    // `x` makes the column a text. The spellings of 1 and 2 share clusters, which must not count twice.
    const file = write([['1', '1.0'], ['2.0', '2', '2.00'], ['x']]); // prettier-ignore
    const columns = { yPredCol: 'y', yTrueCol: 't', yScoreCol: 's', sensitiveCol: 'g', minGroupSize: 10 };
    for (const clusters of [{ clusterCol: 'c' }, { clusterCol: 'c', strataCol: 'h' }]) {
      const table = FairnessAnalyzer.fromDataFrame(await loadData(file, { labels: ['g'] }), {
        ...columns,
        ...clusters,
      });
      const counted = FairnessAnalyzer.fromFile(file, { ...columns, ...clusters });
      for (const metric of CLUSTERED_METRICS) {
        const [expected, found] = [await table.metric(metric), await counted.metric(metric)];
        expect(Object.keys(found.nPerGroup), metric).to.deep.equal(['1', '2', 'x']);
        expect(found.nClusters, metric).to.deep.equal(expected.nClusters);
        for (const end of [0, 1]) expect(found.ci?.[end], metric).to.be.closeTo(expected.ci?.[end] ?? NaN, 1e-9);
      }
    }
  });
});
