import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { activeAlertsJson, dashboardToJson, saveDashboard } from '../../../src/monitoring/dashboard/save-dashboard.ts';
import { dashboardToMarkdown } from '../../../src/monitoring/dashboard/monitoring-document.ts';
import { HOSTILE_LABELS, viewOfGroups } from './large-views.ts';
import { emptyView, fullView } from './views.ts';

describe('the dashboard as Markdown', () => {
  it('has the headline, every section and its settings', () => {
    const markdown = dashboardToMarkdown(fullView());
    expect(markdown).to.match(
      /^# Fairness of a monitored stream\n\n12,000 events, .*\n\n\*\*1 of 4 metrics is in breach\*\*\n/,
    );
    expect(markdown.match(/^## .*$/gm)).to.deep.equal([
      ...['## Every metric', '## Alerts'],
      ...['## Demographic parity difference of region', '## Demographic parity difference of age'],
      ...['## Equalized odds difference of region', '## Equalized odds difference of age'],
      ...['## Intersections', '## True labels', '## What was not counted', '## How to read this'],
      '## How this was made',
    ]);
    expect(markdown).to.match(/^\| west +\| 40\.0% \(n = 710\) +\| too few +\| 37\.0% \(n = 800\) +\|$/m);
  });

  it('hides rates of few events, and shows hostile labels as text', () => {
    expect(dashboardToMarkdown(fullView(0.01))).to.equal(dashboardToMarkdown(fullView(0.99)));
    const hostile = dashboardToMarkdown(viewOfGroups(HOSTILE_LABELS));
    expect(hostile).to.not.match(/(?<!\\)<script/);
    expect(hostile).to.not.match(/[\u202A-\u202E\u2028]/);
  });

  it('is short for an empty view and for 5,000 groups', () => {
    expect(dashboardToMarkdown(emptyView())).to.include('**No event has been counted yet**');
    const many = dashboardToMarkdown(viewOfGroups(Array.from({ length: 5000 }, (_, index) => `group ${index}`)));
    expect(many).to.have.length.below(40_000);
    expect(many).to.include('4960 more groups');
  });
});

describe('the dashboard as JSON', () => {
  it('has snake_case names at every level, and only valid JSON values', () => {
    const json = dashboardToJson(fullView());
    expect(JSON.parse(JSON.stringify(json))).to.deep.equal(json);
    const names = new Set<string>();
    JSON.stringify(json, (key, value: unknown) => {
      if (!/^\d*$/.test(key)) names.add(key);
      return value;
    });
    for (const name of names) expect(name).to.match(/^[a-z]+(_[a-z]+)*$/);
    expect([...names]).to.include.members(['n_events', 'severity_score', 'row_attribute', 'is_open', 'labelled']);
  });

  it('has null for undefined values, and for values of too few events', () => {
    const view = fullView();
    const watched = view.watched.map((one) => ({
      ...one,
      now: one.now.map((record) => ({ ...record, value: NaN, high: Infinity })),
    }));
    const json = dashboardToJson({ ...view, watched }) as {
      watched: { now: { value: unknown; high: unknown }[] }[];
      crossings: { cells: { n: number; value: unknown }[] }[];
    };
    expect(json.watched[0]?.now[0]).to.include({ value: null, high: null });
    expect(json.crossings[0]?.cells.find(({ n }) => n === 12)).to.have.property('value', null);
    expect(dashboardToJson(fullView(0.01))).to.deep.equal(dashboardToJson(fullView(0.99)));
  });

  it('keeps labels and the names of reasons unchanged', () => {
    const json = dashboardToJson(viewOfGroups(HOSTILE_LABELS)) as { coverage: { group: string }[]; faults: object };
    expect(json.coverage.map(({ group }) => group)).to.deep.equal(HOSTILE_LABELS);
    expect(json.faults).to.deep.equal({ '<script>alert(1)</script>': 2 });
  });

  it('keeps a reason named like an inherited property', () => {
    const problems = JSON.parse('{"__proto__": 3, "constructor": 1}') as Record<string, number>;
    expect(JSON.stringify(dashboardToJson({ ...emptyView(), faults: problems }))).to.include(
      '{"__proto__":3,"constructor":1}',
    );
  });

  it('lists open alarms and open watches separately', () => {
    const active = activeAlertsJson(fullView()) as Record<'alerts' | 'watches', { id: string; is_open: boolean }[]>;
    expect(active.alerts.map(({ id }) => id)).to.deep.equal([
      'region:demographic_parity_difference:1',
      'region:equalized_odds_difference:1',
    ]);
    expect(active.watches.map(({ id }) => id)).to.deep.equal(['age:demographic_parity_difference:2']);
    expect(activeAlertsJson(emptyView())).to.deep.equal({ timestamp: null, alpha: 0.05, alerts: [], watches: [] });
  });
});

describe('saving a dashboard', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'evenhand-test-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('writes three files into a folder that it creates, and no other files', async () => {
    const target = path.join(folder, 'a/b');
    const saved = await saveDashboard(fullView(), target);
    expect(saved).to.deep.equal({
      dashboard: path.join(target, 'dashboard.html'),
      report: path.join(target, 'report.md'),
      activeAlerts: path.join(target, 'active_alerts.json'),
    });
    expect(readdirSync(target).sort()).to.deep.equal(['active_alerts.json', 'dashboard.html', 'report.md']);
    expect(JSON.parse(readFileSync(saved.activeAlerts, 'utf8'))).to.deep.equal(activeAlertsJson(fullView()));
    expect(readFileSync(saved.report, 'utf8')).to.equal(dashboardToMarkdown(fullView()));
    const first = readFileSync(saved.dashboard);
    await saveDashboard(fullView(), target);
    expect(readFileSync(saved.dashboard).equals(first), 'the same view, the same bytes').to.equal(true);
  });

  it('rejects a folder that cannot be written to, by name', async () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    const failed: unknown = await saveDashboard(emptyView(), file).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(DataValidationError);
    expect(existsSync(path.join(folder, 'report.md'))).to.equal(false);
  });
});
