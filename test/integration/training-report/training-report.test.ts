import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import {
  generateTrainingFairnessReport,
  type ReportedTraining,
} from '../../../src/integration/training-report/generate-training-fairness-report.ts';
import { workflowToHtml, workflowToMarkdown } from '../../../src/integration/workflow-report/render-report.ts';
import { calibrateTable, sweepPareto, trainLagrangian, trainReductions } from '../../../src/training/index.ts';
import { type ParetoPoint } from '../../../src/training/pareto/pareto-points.ts';
import { type ParetoSweep, type SweepInfo } from '../../../src/training/pareto/pareto-sweep.ts';
import { Table } from '../../../src/table/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { findingsOf } from '../workflow-report/findings.ts';
import { columnCounts, headingsOf, tableUnder, unbalancedTags } from '../workflow-report/report-checks.ts';

const HOSTILE = '<script>|\n# x';

/** Two groups; the feature makes the second one selected more often. The names are hostile. */
function rows(count: number) {
  const index = Array.from({ length: count }, (_, row) => row);
  return Table.ofColumns([
    ['x', { kind: 'numeric', values: Float64Array.from(index, (row) => ((row * 37) % 101) / 50 + (row % 2)) }],
    [
      HOSTILE,
      { kind: 'numeric', values: Float64Array.from(index, (row) => Number(((row * 37) % 101) / 50 + (row % 2) > 1.4)) },
    ],
    ['g', { kind: 'categorical', codes: Int32Array.from(index, (row) => row % 2), labels: ['__proto__', '<b>b|'] }],
  ]);
}

/** A hand-written sweep: the first and the last point are not dominated, the third has no gap. */
const POINTS: readonly ParetoPoint[] = [
  {
    eta: 0,
    accuracy: 0.8,
    dpDiff: 0.2,
    eoDiff: 0.15,
    loss: 0.4,
    dominated: false,
    accuracyCi: [0.75, 0.85],
    dpDiffCi: [0.1, 0.3],
  },
  {
    eta: 0.5,
    accuracy: 0.74,
    dpDiff: 0.25,
    eoDiff: NaN,
    loss: 0.5,
    dominated: true,
    accuracyCi: [0.7, 0.8],
    dpDiffCi: [0.1, 0.4],
  },
  {
    eta: 0.7,
    accuracy: 0.7,
    dpDiff: NaN,
    eoDiff: NaN,
    loss: 0.5,
    dominated: true,
    accuracyCi: [0.6, 0.8],
    dpDiffCi: null,
  },
  {
    eta: 1,
    accuracy: 0.75,
    dpDiff: 0.05,
    eoDiff: 0.3,
    loss: 0.6,
    dominated: false,
    accuracyCi: [0.7, 0.8],
    dpDiffCi: [0, 0.15],
  },
];

const INFO: SweepInfo = {
  hypervolume: 0.2125,
  backend: 'cpu',
  etaRange: null,
  penalty: 'covariance',
  seed: 7,
  folds: null,
  batchSize: 128,
  nTrain: 800,
  nTest: 200,
  nDropped: 3,
  target: HOSTILE,
  sensitive: ['sex'],
  positiveLabel: null,
  warnings: ['the labels are <few>'],
};

const SWEEP: ParetoSweep = Object.assign([...POINTS], INFO);

const made: Record<string, ReportedTraining> = {};

describe('training reports', () => {
  before(async function () {
    this.timeout(120_000);
    const source = { table: rows(600), target: HOSTILE, sensitive: 'g', features: ['x'] };
    made['reductions'] = await trainReductions(source, { T: 5, eps: 0.05, backend: 'cpu' });
    made['lagrangian'] = await trainLagrangian(source, {
      epochs: 40,
      hidden: [4],
      dpTol: 0.1,
      modelLr: 0.01,
      backend: 'cpu',
    });
    made['sweep'] = SWEEP;
    const score = Array.from({ length: 400 }, (_, row) => ((row * 617) % 397) / 400);
    made['calibration'] = await calibrateTable(
      {
        table: {
          score,
          y: score.map((p, row) => Number(((row * 271) % 400) / 400 < p ** 2)),
          g: score.map((_, row) => (row % 40 === 0 ? '__proto__' : row % 2 === 0 ? HOSTILE : 'b')),
        },
      },
      { method: 'platt' },
    );
    made['workflow'] = findingsOf();
  });

  const get = (kind: string): ReportedTraining => made[kind] as ReportedTraining;

  for (const kind of ['reductions', 'lagrangian', 'sweep', 'calibration', 'workflow']) {
    describe(`the training report: ${kind}`, () => {
      let markdown = '';
      let html = '';
      before(async () => {
        markdown = await generateTrainingFairnessReport(get(kind));
        html = await generateTrainingFairnessReport(get(kind), { format: 'html' });
      });

      it('says what is constrained and what it costs, and how to read it', () => {
        expect(headingsOf(markdown)).to.include.members([
          'What is constrained, and what it costs',
          'How to read this',
          'How this was made',
        ]);
        expect(markdown).to.not.match(/remov\w* (?:the )?(?:bias|unfairness|discrimination)|\bis fair\b|\bdebias/i);
      });

      it('shows no NaN or Infinity, and shows names as text', () => {
        for (const text of [markdown, html]) {
          expect(text.match(/.{0,80}(?:NaN|Infinity|\[object|\bnull\b).{0,40}/g) ?? []).to.deep.equal([]);
        }
        for (const counts of columnCounts(markdown)) expect(new Set(counts).size).to.equal(1);
        expect(markdown).to.not.match(/(?<!\\)<|^# x/m);
        expect(html).to.not.match(/<script|<link|<img|https?:/i);
        expect(unbalancedTags(html)).to.deep.equal([]);
      });

      it('has a chart in HTML, and gives the same bytes twice', async () => {
        expect(html).to.include('<svg role="img"');
        expect(await generateTrainingFairnessReport(get(kind), { format: 'html' })).to.equal(html);
        const ids = Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id);
        expect(new Set(ids).size).to.equal(ids.length);
      });

      it('uses a given title', async () => {
        const titled = await generateTrainingFairnessReport(get(kind), { title: 'Ours & <theirs>' });
        expect(titled.split('\n')[0]).to.equal('# Ours \\& \\<theirs\\>');
      });
    });
  }

  describe('generateTrainingFairnessReport', () => {
    const folder = useTemporaryFolder();

    it('returns the workflow report for a workflow', async () => {
      expect(await generateTrainingFairnessReport(findingsOf())).to.equal(workflowToMarkdown(findingsOf()));
      expect(await generateTrainingFairnessReport(findingsOf(), { format: 'html' })).to.equal(
        await workflowToHtml(findingsOf()),
      );
    });

    it('shows every point of a sweep with intervals, and undefined gaps in words', async () => {
      const markdown = await generateTrainingFairnessReport(SWEEP);
      const points = tableUnder(markdown, 'Points of the sweep, on rows that the network was not trained on');
      expect(points).to.deep.equal([
        ['0', '80.00%', '75.00% to 85.00%', '0.2000', '0.1000 to 0.3000', '0.1500', '0.4000', 'no'],
        ['0.5', '74.00%', '70.00% to 80.00%', '0.2500', '0.1000 to 0.4000', 'undefined', '0.5000', 'yes'],
        ['0.7', '70.00%', '60.00% to 80.00%', 'undefined', 'none', 'undefined', '0.5000', 'yes'],
        ['1', '75.00%', '70.00% to 80.00%', '0.0500', '0.0000 to 0.1500', '0.3000', '0.6000', 'no'],
      ]);
      expect(markdown)
        .to.include('from 80.00% (eta 0) to 75.00% (eta 1)')
        .and.include('2 of 4 points are not dominated');
    });

    it('shows a table and no chart for a sweep without any gap', async () => {
      const points = POINTS.map((point) => ({ ...point, dpDiff: NaN, dpDiffCi: null, dominated: false }));
      const html = await generateTrainingFairnessReport(Object.assign(points, INFO), { format: 'html' });
      expect(html).to.not.include('<svg');
    });

    it('shows both models of a job on both sets of rows, and each group', async () => {
      const job = get('reductions') as Awaited<ReturnType<typeof trainReductions>>;
      const markdown = await generateTrainingFairnessReport(job);
      const held = tableUnder(markdown, 'On held-out rows (120 rows)');
      expect(held.map(([name]) => name)).to.deep.equal([
        'Accuracy',
        'Demographic parity difference',
        'Equalized odds difference',
      ]);
      expect(held[0]?.[1]).to.equal(`${(100 * job.baseline.accuracy).toFixed(2)}%`);
      expect(held[1]?.[3]).to.equal(job.final.dpDiff.toFixed(4));
      tableUnder(markdown, 'On the training rows, where the constraint is imposed (480 rows)');
      expect(tableUnder(markdown, 'Selection rate by g').map(([label]) => label)).to.have.members([
        '__proto__',
        '<b>b|',
      ]);
      expect(markdown).to.include('slack (eps) 0.05').and.include('Duality gap');
    });

    it('shows gap and multiplier over the epochs of a Lagrangian training, with the kept epoch marked', async () => {
      const job = get('lagrangian') as Awaited<ReturnType<typeof trainLagrangian>>;
      const markdown = await generateTrainingFairnessReport(job);
      const epochs = tableUnder(markdown, `Epochs, 24 of 40`);
      expect(epochs[0]?.[0]).to.equal(job.bestEpoch === 1 ? '1 (kept)' : '1');
      expect(epochs.at(-1)?.[0]).to.match(/^40/);
      expect(epochs.filter(([epoch]) => epoch?.endsWith('(kept)')).map(([epoch]) => epoch)).to.deep.equal([
        `${String(job.bestEpoch)} (kept)`,
      ]);
      expect(markdown).to.include('tolerance 0.1').and.not.include('0.02;');
      expect(await generateTrainingFairnessReport(job, { format: 'html' })).to.include(
        'The gap in decisions over 40 epochs',
      );
    });

    it('shows calibration errors before and after, and the groups without their own calibrator', async () => {
      const markdown = await generateTrainingFairnessReport(get('calibration'));
      const quality = tableUnder(
        markdown,
        'Measured on rows that the calibrators were not fitted on (cross-fitted in folds)',
      );
      expect(quality[0]?.slice(0, 2)).to.deep.equal(['All rows', '400']);
      expect(tableUnder(markdown, 'Groups that use the calibrator of all rows')[0]?.slice(0, 2)).to.deep.equal([
        '__proto__',
        '10',
      ]);
    });

    it('writes the same text to savePath, in the format of its extension', async () => {
      for (const name of ['report.md', 'deep/report.html']) {
        const savePath = path.join(folder(), name);
        const text = await generateTrainingFairnessReport(SWEEP, { savePath });
        expect(readFileSync(savePath, 'utf8')).to.equal(text);
        expect(text.startsWith('<!doctype html>')).to.equal(name.endsWith('.html'));
      }
      expect(readdirSync(folder()).filter((name) => name.startsWith('.evenhand'))).to.deep.equal([]);
    });

    for (const [title, options, error] of [
      ['an unknown format', { format: 'pdf' }, 'The format parameter must be one of markdown, html'],
      ['another extension', { savePath: 'report.txt' }, 'The savePath parameter must end in .md or .html'],
      ['no extension', { savePath: 'report' }, 'The savePath parameter must end in .md or .html'],
      ['a format that does not match the extension', { format: 'html', savePath: 'a.md' }, 'must agree with savePath'],
    ] as const) {
      it(`rejects ${title} before writing anything`, async () => {
        const failed = await generateTrainingFairnessReport(SWEEP, options as never).catch(
          (problem: unknown) => problem,
        );
        expect(failed).to.be.instanceOf(ValueError).with.property('message').that.includes(error);
      });
    }

    it('rejects other results, and a path that is a folder', async () => {
      for (const odd of [null, {}, [], 'text', [{ eta: 1 }]]) {
        const failed = await generateTrainingFairnessReport(odd as never).catch((problem: unknown) => problem);
        expect(failed)
          .to.be.instanceOf(ValueError)
          .with.property('message')
          .that.includes('the result of a training function');
      }
      const failed = await generateTrainingFairnessReport(SWEEP, { savePath: path.join('/dev/null', 'a.md') }).catch(
        (problem: unknown) => problem,
      );
      expect(failed).to.be.instanceOf(DataValidationError);
    });

    it('accepts a result of sweepPareto', async () => {
      const sweep = await sweepPareto(
        { table: rows(400), target: HOSTILE, sensitive: 'g', features: ['x'] },
        { etas: [0, 1], epochs: 2, hidden: [4], backend: 'cpu' },
      );
      const markdown = await generateTrainingFairnessReport(sweep);
      expect(tableUnder(markdown, 'Points of the sweep, on rows that the network was not trained on')).to.have.length(
        2,
      );
    });
  });
});
