import { reduceRegressionSource, reduceScoreSource } from './src/metrics/reduce-source.ts';
import { countScores } from './src/io/count-scores.ts';
import { gridStep } from './src/metrics/score-grid.ts';
const t = async (n: string, f: () => Promise<unknown>) => { const s = performance.now(); let r: any; try { r = await f(); } catch (e: any) { r = e.stack; } console.log(n, Math.round(performance.now()-s), typeof r === 'string' ? r : ''); };
for (const f of ['/tmp/big.parquet', '/tmp/big.csv']) {
await t('io score', () => countScores(f, { attributes: [['s']], yScore: 'x1', yTrue: 'y', nanPolicy: 'exclude' }, {mostDistinct: 65536, stepFor: gridStep}));
await t('score', () => reduceScoreSource(f, { attributes: [['s']], yScore: 'x1', yTrue: 'y', nanPolicy: 'exclude' }));
await t('regr', () => reduceRegressionSource(f, { attributes: [['s']], yPred: 'x1', yTrue: 'x2', nanPolicy: 'exclude' }));
}
