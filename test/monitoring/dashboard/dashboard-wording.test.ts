import { expect } from 'chai';

import type { AlertEvent, AlertHistory } from '../../../src/monitoring/alarms/alert-event.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { activeAlertsJson, dashboardToJson } from '../../../src/monitoring/dashboard/save-dashboard.ts';
import { dashboardToHtml } from '../../../src/monitoring/dashboard/dashboard-to-html.ts';
import { dashboardToMarkdown } from '../../../src/monitoring/dashboard/monitoring-document.ts';
import type { MonitoringView } from '../../../src/monitoring/dashboard/monitoring-view.ts';
import { takeView } from '../../../src/monitoring/dashboard/take-view.ts';
import { alertToJson } from '../../../src/monitoring/sinks/transition-json.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import { at } from './sample-records.ts';
import { ALERT, emptyView, fullView, watchedMetric } from './views.ts';

const pageOf = (view: MonitoringView): Promise<string> =>
  dashboardToHtml(view, { readScript: () => Promise.resolve('globalThis.echarts = undefined;') });
const textOf = (html: string): string =>
  html
    .replaceAll(/<(script|style)[^>]*>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'");

/** Raised at hour 151 and sent again at hour 175, which is then its own time. */
const REPEATED: AlertHistory = {
  alert: { ...ALERT, timestamp: at(175) },
  isOpen: true,
  isAcknowledged: false,
  changes: [
    { change: 'raised', timestamp: at(151) },
    { change: 'repeated', timestamp: at(175) },
  ],
};

/** Returns the text of the Markdown and of the page, without markup. */
async function bothForms(view: MonitoringView): Promise<string[]> {
  return [textOf(await pageOf(view)), dashboardToMarkdown(view).replaceAll('\\', '')];
}

describe('a repeated alarm', () => {
  const view = { ...fullView(), alerts: [REPEATED] };

  it('is marked in the chart of its gap when it was raised', async () => {
    const html = await pageOf(view);
    const charts = JSON.parse(/id="chart-data">(.*?)<\/script>/s.exec(html)?.[1] ?? '[]') as {
      option: { series: { markLine?: { data: { xAxis?: number; lineStyle?: { type: unknown } }[] } }[] };
    }[];
    // The first chart is of alerts, the second of the gap of this alarm.
    const marks = charts[1]?.option.series.flatMap(({ markLine }) => markLine?.data ?? []) ?? [];
    const raised = marks.filter(({ lineStyle }) => lineStyle?.type === 'solid').map(({ xAxis }) => xAxis);
    expect(raised).to.deep.equal([Date.parse(at(151))]);
  });

  it('has in JSON the times when it was raised and when it was last sent', () => {
    for (const json of [activeAlertsJson(view), dashboardToJson(view)]) {
      const [alert] = (json as { alerts: { timestamp: string; raised_at: string }[] }).alerts;
      expect([alert?.timestamp, alert?.raised_at]).to.deep.equal([at(175), at(151)]);
    }
  });
});

describe('an alert in JSON', () => {
  /** The keys in the order of the documentation and of sinks. */
  const KEYS = [
    ...['id', 'tier', 'timestamp', 'metric', 'attribute', 'groups', 'measure', 'rates', 'value', 'low', 'high'],
    ...['limit', 'n', 'severity', 'severity_score', 'confidence', 'drift_score', 'changed_at', 'window_start'],
    ...['window_events', 'share', 'within', 'reason'],
  ];

  it('has its keys in a fixed order, for any order of the fields of the alert', () => {
    const turned = Object.fromEntries(Object.entries(ALERT).reverse()) as unknown as AlertEvent;
    expect(Object.keys(alertToJson(turned))).to.deep.equal(KEYS);
    expect(alertToJson(turned)).to.deep.equal(alertToJson(ALERT));
    const [active] = activeAlertsJson({ ...fullView(), alerts: [{ ...REPEATED, alert: turned }] })[
      'alerts'
    ] as object[];
    const rest = ['raised_at', 'is_open', 'is_acknowledged', 'changes'];
    expect(Object.keys(active ?? {})).to.deep.equal([...KEYS, ...rest]);
  });

  it('has null for numbers that JSON cannot represent', () => {
    expect(alertToJson({ ...ALERT, high: Infinity, confidence: NaN })).to.include({ high: null, confidence: null });
  });
});

describe('the words of an alert', () => {
  it('say that a low precision is that of the estimate, and does not decide about the alarm', async () => {
    const vague = { ...REPEATED, alert: { ...ALERT, severity: 'low', severityScore: 0, confidence: 0 } as const };
    for (const text of await bothForms({ ...fullView(), alerts: [vague] })) {
      expect(text).to.match(
        /Precision of the estimate:? 0\.00: grows with n; does not decide whether an alarm is raised/,
      );
      expect(text).to.match(/Severity:? low \(0\.000\)/);
      expect(text).to.not.match(/= confidence/);
    }
  });

  it('give a suspected time to the minute, since it is an estimate', async () => {
    const alerts = [{ ...REPEATED, alert: { ...ALERT, changedAt: '2026-01-07T23:04:32.000Z' } }];
    for (const text of await bothForms({ ...fullView(), alerts })) {
      expect(text).to.match(/Suspected change:? around 2026-01-07 23:04 UTC/);
      expect(text).to.not.include('23:04:32');
    }
  });

  it('show an intersection with the same sign, in names and in the sentences of metrics', async () => {
    const alert = {
      ...ALERT,
      attribute: 'sex||race',
      groups: ['f||x', 'm||y'],
      reason: 'By sex||race, a gap.',
    } as const;
    const watched = [{ ...watchedMetric('region', 'demographic_parity_difference', 'breach'), attribute: 'sex||race' }];
    const view = { ...fullView(), watched, alerts: [{ ...REPEATED, alert }], crossings: [] };
    for (const text of await bothForms({
      ...view,
      watched: watched.map((one) => ({ ...one, sentence: alert.reason })),
    })) {
      expect(text).to.include('By sex \u00D7 race, a gap.').and.to.include('f||x');
      expect(text).to.not.include('sex||race');
    }
  });
});

describe('an inconclusive metric', () => {
  const sentence = 'Inconclusive: only one group has events for the selection rate.';
  const watched = [{ ...watchedMetric('region', 'demographic_parity_difference', 'unknown'), sentence }];

  it('says that it is inconclusive once', async () => {
    for (const view of [
      { ...fullView(), watched },
      { ...emptyView(), nEvents: 5, watched },
    ]) {
      for (const text of await bothForms(view)) {
        expect(text).to.not.match(/inconclusive[\s:.]*inconclusive/i);
        expect(text.toLowerCase()).to.match(/inconclusive ?[:.]? only one group has events/);
      }
    }
    expect(JSON.stringify(dashboardToJson({ ...emptyView(), watched }))).to.include(sentence);
  });
});

describe('label coverage', () => {
  const coverage = [{ attribute: 'region', group: 'north', n: 90, labelled: 0, share: 0 }];
  const parity = [watchedMetric('region', 'demographic_parity_difference', 'within')];
  const odds = [watchedMetric('region', 'equalized_odds_difference', 'unknown')];
  for (const [name, changes, isReported] of [
    ['is omitted if no metric needs labels and none arrived', { watched: parity, coverage }, false],
    ['is shown if a metric needs labels, although none arrived', { watched: odds, coverage }, true],
    [
      'is shown if labels arrived, although no metric needs them',
      { watched: parity, coverage: coverage.map((one) => ({ ...one, labelled: 3, share: 1 / 30 })) },
      true,
    ],
  ] as const) {
    it(name, async () => {
      const html = await pageOf({ ...fullView(), ...changes });
      expect(html.includes('id="labels"'), 'a section').to.equal(isReported);
      expect(html.includes('href="#labels"'), 'a link').to.equal(isReported);
      for (const text of await bothForms({ ...fullView(), ...changes })) {
        expect(text.includes('True labels'), text).to.equal(isReported);
      }
    });
  }
});

describe('the sentence of a metric in breach', () => {
  it('names the two windows of its numbers', () => {
    const tracker = new RealTimeFairnessTracker({
      columns: { yPred: 'p', protected: ['g'], timestamp: 'at' },
      windowSize: 1000,
    });
    const engine = new FairnessDriftAndAlertEngine();
    // Half of one group and a tenth of the other, alternating.
    for (let event = 0; event < 4000; event++) {
      const isFirst = event % 2 === 0;
      const turn = Math.floor(event / 2);
      tracker.record({ g: isFirst ? 'a' : 'b', p: Number(turn % (isFirst ? 2 : 10) === 0), at: 1000 * event });
    }
    const [watched] = takeView(tracker, engine).watched;
    expect(watched?.state).to.equal('breach');
    expect(watched?.sentence).to.match(
      /^Evidence of the alarm: By g, .* Sliding window now: The gap in the last 1,000 events is 0\.400/,
    );
  });
});
