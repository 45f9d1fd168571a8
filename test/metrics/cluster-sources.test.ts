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

  function write(): string {
    const random = createRandom(21);
    const lines = ['y,t,s,g,k,c,h,w'];
    for (let cluster = 0; cluster < 300; cluster++) {
      const level = random.next();
      const size = 1 + Math.floor(12 * random.next());
      for (let row = 0; row < size; row++) {
        const truth = random.next() < 0.1 ? '' : Number(random.next() < 0.5);
        const group = random.next() < 0.03 ? '' : 'abc'[Math.floor(random.next() * 3)];
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
});
