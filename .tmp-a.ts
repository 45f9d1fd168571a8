import { reduceClassificationSource, reduceRegressionSource, reduceScoreSource, classLabels } from './src/metrics/reduce-source.ts';
import { openDuckDb } from './src/io/index.ts';
const t = async (n: string, f: () => Promise<unknown>) => { const s = performance.now(); let r: any; try { r = await f(); } catch (e: any) { r = `${e.name}: ${e.message} | ${e.suggestion}`; } console.log(n, Math.round(performance.now()-s), typeof r === 'string' ? r : JSON.stringify(r, (k, v) => ArrayBuffer.isView(v) ? [...(v as any)].slice(0,12) : v).slice(0, 700)); };
for (const f of ['/tmp/big.csv','/tmp/big.parquet']) {
await t('class', () => reduceClassificationSource(f, { attributes: [['s']], yPred: 'p', yTrue: 'y', nanPolicy: 'exclude' }));
await t('class weighted', () => reduceClassificationSource(f, { attributes: [['s']], yPred: 'p', yTrue: 'y', sampleWeight: 'x1', nanPolicy: 'exclude' }));
await t('regr', () => reduceRegressionSource(f, { attributes: [['s']], yPred: 'x1', yTrue: 'x2', nanPolicy: 'exclude' }));
await t('score', () => reduceScoreSource(f, { attributes: [['s']], yScore: 'x1', yTrue: 'y', nanPolicy: 'exclude' }));
await t('labels', () => classLabels(f, ['s', 'y']));
}
const engine = openDuckDb();
const q = { engine, query: "SELECT * FROM '/tmp/big.parquet' LIMIT 100000; -- yes" };
await t('q', () => reduceClassificationSource(q, { attributes: [['s'],['y','s']], yPred: 'p', yTrue: 'y', nanPolicy: 'exclude' }));
for (const query of ['SELEC', 'SELECT 1; SELECT 2', 'SELECT x FROM nosuch', '', "SELECT 1 AS y, 2 AS p, 3 AS p, 's' AS s", "SELECT 1 AS y, 2 AS pp, 's' AS s", "SELECT 1 AS y, CAST('x' || 'a' AS INT) AS p, 's' AS s", "SELECT 1 AS p, 1 AS y, 's' AS s WHERE false", "DROP TABLE a", "SELECT 1 AS p, 1 AS y, NULL AS s", "SELECT 3 AS p, 1 AS y, 1 AS s", "SELECT 1 AS p, 1 AS y, 1 AS s) UNION (SELECT 1, 1, 1", "SELECT $1 AS p"])
 await t(query, () => reduceClassificationSource({ engine, query }, { attributes: [['s']], yPred: 'p', yTrue: 'y', nanPolicy: 'exclude' }));
await t('missing', async () => openDuckDb('/tmp/nosuch.db'));
await t('notdb', async () => openDuckDb('/tmp/notdb.db').run(async (s) => s.rows('SELECT 1')));
await engine.close(); await engine.close();
await t('closed', async () => engine.run(async (s) => s.rows('SELECT 1')));
