import { createHash } from 'node:crypto';

import { expect } from 'chai';

import { DependencyError } from '../../../src/exceptions/index.ts';
import { VERSION } from '../../../src/internal/version.ts';
import { dashboardToHtml } from '../../../src/monitoring/dashboard/dashboard-to-html.ts';
import type { MonitoringView } from '../../../src/monitoring/dashboard/monitoring-view.ts';
import { HOSTILE_LABELS, largestView, viewOfGroups } from './large-views.ts';
import { emptyView, fullView } from './views.ts';

/** A short script, which keeps the test pages small. */
const SCRIPT = 'globalThis.echarts = undefined;';
const pageOf = (view: MonitoringView) => dashboardToHtml(view, { readScript: () => Promise.resolve(SCRIPT) });
const textOf = (html: string) =>
  html
    .replaceAll(/<(script|style)[^>]*>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

interface PageChart {
  readonly option: { readonly series: readonly unknown[]; readonly dataset?: { readonly source: unknown[] } };
  readonly darkChanges: { readonly backgroundColor?: string };
}
const chartsOf = (html: string) =>
  JSON.parse(
    /<script type="application\/json" id="chart-data">(.*?)<\/script>/s.exec(html)?.[1] ?? '[]',
  ) as PageChart[];

describe('the dashboard as a page', () => {
  let html = '';
  let text = '';
  before(async () => {
    html = await pageOf(fullView());
    text = textOf(html);
  });

  it('starts with the state in words', () => {
    const headline = html.indexOf('1 of 4 metrics is in breach');
    expect(headline).to.be.above(0).and.below(html.indexOf('class="cards"'));
    expect(text).to.include('Of the others, 1 is on watch, 1 is inconclusive and 1 is within its limit.');
    expect(text).to.include('2 alarms are open, 1 not acknowledged.');
    expect(text).to.include('Labels come about two days after their predictions.');
  });

  it('has a card for each metric, worst first, with sign, word and sentence', () => {
    const cards = [...html.matchAll(/<li class="card (\w+)">(.*?)<\/li>/gs)];
    expect(cards.map(([, state]) => state)).to.deep.equal(['breach', 'watch', 'unknown', 'within']);
    const words = cards.map(([, , card = '']) => textOf(card).trim());
    expect(words[0]).to.match(/^\u2717 Breach Demographic parity difference of region .*is at least 0\.131/);
    expect(words[1]).to.match(/^! Watch Demographic parity difference of age /);
    expect(words[2]).to.match(/^\? Inconclusive .*about 1,200 more events of group 'west' are needed\./);
    expect(words[3]).to.match(/^\u2713 Within limit /);
  });

  it('has charts of alerts, and of the gap and every compared rate of each metric', () => {
    const captions = [...html.matchAll(/<figcaption><bdi>(.*?)<\/bdi>/g)].map(([, caption]) => caption);
    const rates = (name: string) => [`True positive rate by ${name}`, `False positive rate by ${name}`];
    expect(captions).to.deep.equal([
      'Alerts over time',
      ...['Gap: demographic parity difference', 'Selection rate by region'],
      ...['Gap: equalized odds difference', ...rates('region')],
      ...['Gap: demographic parity difference', 'Selection rate by age'],
      ...['Gap: equalized odds difference', ...rates('age')],
    ]);
    expect(chartsOf(html)).to.have.length(captions.length);
    const indices = [...html.matchAll(/data-chart="(\d+)"/g)].map(([, location]) => Number(location));
    expect(new Set(indices).size).to.equal(captions.length);
  });

  it('gives each chart its own options, a description, a table, and its changes in dark colours', () => {
    const gaps = chartsOf(html).map(({ option }) => option.dataset?.source.length);
    expect(gaps).to.deep.equal([undefined, ...Array.from({ length: 10 }, () => 200)]);
    for (const { darkChanges } of chartsOf(html)) expect(darkChanges.backgroundColor).to.equal('#14191f');
    const figures = html.match(/<figure>.*?<\/figure>/gs) ?? [];
    for (const figure of figures) {
      expect(figure).to.match(/role="img" aria-label="[^"]{30,}"/);
      expect(figure).to.match(/<details><summary>.*<table.*<\/table>.*<\/details>/s);
    }
  });

  it('shows the sentence, share of alpha, severity and changes of each alert', () => {
    const alerts = [...html.matchAll(/<li class="alert.*?<\/li>/gs)].map(([alert]) => textOf(alert));
    expect(alerts).to.have.length(4);
    expect(alerts[0]).to.match(/Alarm: Demographic parity difference of region open , severity critical/);
    expect(alerts[0]).to.include('by a bound that holds at all times.');
    expect(alerts[0]).to.include('Share of alpha each group 0.00208, window 0.00625, metric 0.0125, engine 0.05');
    expect(alerts[0]).to.include('Suspected change around 2026-01-10 01:00 UTC');
    expect(alerts[1]).to.include('open, acknowledged').and.to.include('Suspected change none found');
    expect(alerts[2]).to.match(/Watch: .*a watch has no guarantee over many checks/);
    expect(alerts[3]).to.include('cleared').and.to.include('resolved 2026-01-07 12:00:00; cleared 2026-01-08 10:00:00');
  });

  it('does not depend on the rate of an intersection with few events, also in its data', async () => {
    expect(text).to.include('too few').and.to.include('n: under 20');
    for (const rate of [0, 0.43, 0.99]) expect(await pageOf(fullView(rate)), `a rate of ${rate}`).to.equal(html);
  });

  it('does not depend on the rate of a group with few events', async () => {
    const pageWith = (value: number) => {
      const view = fullView();
      const change = <T extends { group: string | null }>(record: T): T =>
        record.group === 'west' ? { ...record, n: 19, value, low: value / 2, high: value / 2 + 0.5 } : record;
      const watched = view.watched.map((one) => ({
        ...one,
        now: one.now.map(change),
        overall: one.overall.map(change),
      }));
      return pageOf({ ...view, watched, history: view.history.map(change) });
    };
    const page = await pageWith(0.1);
    expect(await pageWith(0.9)).to.equal(page);
    expect(textOf(page)).to.include('west 19 too few');
  });

  it('shows label coverage, and what was not counted', () => {
    expect(text).to.match(/west 1,200 480 40\.0% south 4,800 2,880 60\.0% north 6,000 4,800 80\.0%/);
    expect(text).to.include('Missing prediction 14 Unknown label 3').and.to.not.include('Late label');
  });

  it('explains how to read it and how it was made', () => {
    expect(text).to.include('holds at all times simultaneously').and.to.include('It should not page anyone.');
    for (const fact of ['the last 2,000 events', '30 events', '0.05', '95%', `evenhand ${VERSION}`]) {
      expect(text.slice(text.indexOf('How this was made', 1000))).to.include(fact);
    }
  });

  it('loads nothing: it has no addresses, and allows scripts only by hash', () => {
    expect(html).to.not.match(/\b(?:src|href)\s*=\s*["']?(?!["']?#)/);
    expect(html.replaceAll('http://www.w3.org', '')).to.not.match(/https?:\/\//);
    const policy = /Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    const ran = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
    expect(ran[0]).to.equal(SCRIPT);
    expect(ran).to.have.length(2);
    for (const script of ran) expect(policy).to.include(createHash('sha256').update(script).digest('base64'));
    expect(policy)
      .to.match(/^default-src &#39;none&#39;;/)
      .and.to.not.match(/script-src[^;]*unsafe/);
  });

  it('has ordered headings, unique ids and valid links', () => {
    const levels = [...html.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    expect(levels[0]).to.equal(1);
    levels.slice(1).forEach((level, index) => {
      expect(level)
        .to.be.at.most((levels[index] ?? 0) + 1)
        .and.at.least(2);
    });
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).to.include(target);
    for (const [, target] of html.matchAll(/aria-labelledby="([^"]+)"/g)) expect(ids).to.include(target);
  });

  it('is the same for the same view', async () => {
    expect(await pageOf(fullView())).to.equal(html);
  });
});

describe('the dashboard as a page of other views', () => {
  it('says that there are no events, and has no charts, before the first event', async () => {
    const html = await pageOf(emptyView());
    expect(textOf(html)).to.include('No event has been counted yet').and.to.include('No records yet.');
    expect(chartsOf(html)).to.deep.equal([]);
    expect(textOf(html)).to.not.match(/NaN|Infinity|null|1970/);
  });

  it('says that no metric is watched', async () => {
    expect(textOf(await pageOf({ ...emptyView(), watched: [] }))).to.include('No metric is watched');
  });

  it('shows hostile labels as text', async () => {
    const html = await pageOf(viewOfGroups(HOSTILE_LABELS));
    expect(html.match(/<script\b/g), 'the data and two scripts').to.have.length(3);
    expect(html.match(/<\/script>/g)).to.have.length(3);
    expect(html).to.not.match(/<img|[\u202A-\u202E\u2066-\u2069\u2028]/);
    expect(textOf(html)).to.include('__proto__').and.to.include('(300 characters)').and.to.include('(blank)');
    // Names that every object inherits do not reach the renderer unchanged.
    expect(JSON.stringify(chartsOf(html)))
      .to.include('"__proto__ "')
      .and.to.not.match(/"(?:__proto__|constructor)"/);
  });

  it('draws eight of 5,000 groups, shortens tables with a count, and stays small', async () => {
    const html = await pageOf(viewOfGroups(Array.from({ length: 5000 }, (_, index) => `group ${index}`)));
    expect(textOf(html)).to.include('Showing 8 of 5,000 groups');
    expect(html)
      .to.include('\u22EE 4960 more groups')
      .and.to.include('Showing the 24 rows with the most events, of 5,000.');
    expect(html).to.have.length.below(200_000);
  });

  it('draws the eight worst of many metrics, and has all in a table', async () => {
    const view = fullView();
    const watched = Array.from({ length: 60 }, (_, index) => ({
      ...(view.watched[index % 4] as (typeof view.watched)[number]),
      attribute: index < 4 ? 'region' : `attribute ${index}`,
    }));
    const html = await pageOf({ ...view, watched });
    expect(html.match(/<li class="card /g)).to.have.length(8);
    expect(textOf(html)).to.include('The charts below show the 8 worst metrics. All metrics, by state:');
    expect(html.match(/Equalized odds difference of attribute \d+/g)?.length).to.be.at.least(28);
    expect(html).to.have.length.below(800_000);
  });

  it('lists thirty of many alerts and counts the rest', async () => {
    const view = fullView();
    const alerts = Array.from({ length: 100 }, () => view.alerts).flat();
    const html = await pageOf({ ...view, alerts });
    expect(html.match(/<li class="alert/g)).to.have.length(30);
    expect(textOf(html)).to.include('and 370 older alerts.').and.to.include('Showing 15 of 400 alerts');
  });

  it('has tables and one explanatory note without the chart package', async () => {
    const missing = new DependencyError("The package 'echarts' is needed.", { suggestion: 'npm install echarts' });
    const html = await dashboardToHtml(fullView(), { readScript: () => Promise.reject(missing) });
    expect(textOf(html)).to.include('This page has tables but no charts');
    expect(html.match(/no charts/g)).to.have.length(1);
    expect(html)
      .to.include('npm install echarts')
      .and.to.not.match(/<script|<figure|data-chart/);
    expect(textOf(html)).to.include('The gap at 12 of the 200 times shown');
  });

  it('does not hide any other failure', async () => {
    const failed: unknown = await dashboardToHtml(fullView(), {
      readScript: () => Promise.reject(new Error('disk')),
    }).catch((error: unknown) => error);
    expect(failed).to.have.property('message', 'disk');
  });

  it('stays under 2 MB with ECharts, also with more data than it shows', async () => {
    expect(Buffer.byteLength(await dashboardToHtml(largestView()))).to.be.within(1_200_000, 2_000_000);
  });

  it('has three scripts with ECharts, and a custom title', async () => {
    const html = await dashboardToHtml(fullView(), { title: 'Loans & credit' });
    expect(Buffer.byteLength(html)).to.be.within(700_000, 2_000_000);
    expect(html).to.include('<title>Loans &amp; credit: 12,000 events');
    expect(html.match(/<\/script>/g)).to.have.length(3);
  });
});
