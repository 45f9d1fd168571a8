import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import { judge } from '../../../src/integration/assertions.ts';
import { toMarkdownReport, workflowToMarkdown } from '../../../src/integration/workflow-report/render-report.ts';
import { validationToMarkdown } from '../../../src/integration/validation-report.ts';
import type { FileValidation } from '../../../src/integration/validate-file.ts';
import { demographicParityDifference, equalizedOddsDifference } from '../../../src/metrics/index.ts';
import { findingsOf } from './findings.ts';

// Selected: 2 of 4 in a, 3 of 4 in b. True positives: 2 of 2 and 2 of 2; false positives: 0 of 2 and 1 of 2.
const yTrue = [1, 1, 0, 0, 1, 1, 0, 0];
const yPred = [1, 1, 0, 0, 1, 1, 1, 0];
const groups = ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'];
const options = { minGroupSize: 2, withCi: false };
const parity = demographicParityDifference(yPred, groups, options);
const odds = equalizedOddsDifference(yTrue, yPred, groups, options);
const validation: FileValidation = {
  passed: false,
  threshold: 0.1,
  gates: [{ attribute: 'g', metric: 'demographic_parity_difference', ...judge(parity, 0.1) }],
  attributes: { g: { demographic_parity_difference: parity } },
  verdicts: { g: judge(parity, 0.1) },
  frames: {},
};

describe('toMarkdownReport', () => {
  it('has the section of a single metric under a title', () => {
    const report = toMarkdownReport(parity);
    expect(report).to.match(/^# Fairness report\n\n### Demographic parity difference\n\n\*\*0\.2500\*\*/);
    expect(report).to.include(parity.toMarkdown());
  });

  it('begins with a table for several metrics', () => {
    const report = toMarkdownReport({ parity, odds });
    expect(report).to.match(/\| Demographic parity difference \| 0\.2500 \| none +\| 0 +\|/);
    expect(report).to.match(/\| Equalized odds difference +\| 0\.5000 \| none +\| 0 +\|/);
    expect(report.indexOf('| Equalized')).to.be.lessThan(report.indexOf('### Demographic'));
  });

  it('returns the validation report for a validation', () => {
    expect(toMarkdownReport(validation, { source: 'data.csv' })).to.equal(validationToMarkdown(validation, 'data.csv'));
    expect(toMarkdownReport(validation)).to.match(/^# Fairness validation\n\n\*\*FAIL\*\*\n\n- g: FAIL/);
  });

  it('returns the workflow report for a workflow', () => {
    expect(toMarkdownReport(findingsOf())).to.equal(workflowToMarkdown(findingsOf()));
  });

  for (const [kind, findings] of Object.entries({
    parity,
    several: { parity, odds },
    validation,
    workflow: findingsOf(),
  })) {
    it(`uses and escapes a title and a source for ${kind}`, () => {
      const report = toMarkdownReport(findings, { title: '<b>|', source: '<script>\n# x' });
      expect(report.split('\n')[0]).to.equal('# \\<b\\>\\|');
      expect(report.split('\n')[2]).to.include('\\<script\\>');
      expect(report).to.not.match(/^# x/m);
    });
  }

  it('shows an undefined metric in words, with its reason', () => {
    const alone = demographicParityDifference([1, 0], ['a', 'a'], options);
    const report = toMarkdownReport({ alone, parity });
    expect(report)
      .to.match(/\| undefined +\|/)
      .and.not.include('NaN');
    expect(report).to.include(`undefined (${alone.undefinedReason ?? ''}`);
  });

  for (const [title, findings] of Object.entries({
    'a number': 0.2,
    nothing: {},
    null: null,
    text: 'a report',
    'metrics with something else': { parity, other: 3 },
  })) {
    it(`rejects ${title}`, () => {
      expect(() => toMarkdownReport(findings as never)).to.throw(ValueError, 'The findings parameter must be a metric');
    });
  }
});
