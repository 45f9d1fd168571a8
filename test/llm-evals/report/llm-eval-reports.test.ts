import { expect } from 'chai';

import { describeLlmEval } from '../../../src/cli/llm-eval-text.ts';
import { documentToText } from '../../../src/document/document-to-text.ts';
import { CounterfactualFairnessEvaluator } from '../../../src/llm-evals/evaluators/counterfactual-fairness-evaluator.ts';
import { findingOf, findingSentence } from '../../../src/llm-evals/report/finding.ts';
import {
  llmEvalToHtml,
  llmEvalToJson,
  llmEvalToJunit,
  llmEvalToMarkdown,
  type LlmEvalVerdict,
} from '../../../src/llm-evals/report/index.ts';
import { llmMetric, type LlmMetricResult } from '../../../src/llm-evals/scoring/llm-metric-result.ts';
import {
  columnCounts,
  headingsOf,
  tableUnder,
  unbalancedTags,
} from '../../integration/workflow-report/report-checks.ts';
import { readJunit } from '../../helpers/junit.ts';
import { answerOf, byName, madeMetrics, madeResult } from './made-results.ts';

const sentence = { threshold: 0.1, comparator: '<=', straddles: false };
const FAILED: LlmEvalVerdict = {
  passed: false,
  threshold: 0.1,
  metrics: {
    'sentiment_gap.gender': { ...sentence, passed: false, status: 'fail', message: 'FAIL: it is 0.2100 > 0.1.' },
    'sentiment_gap.weekday': { ...sentence, passed: true, status: 'pass', message: 'PASS: it is 0.0200 <= 0.1.' },
    toxic_fraction: { ...sentence, passed: false, status: 'undefined', message: 'UNDEFINED: it has no value (few).' },
  },
};

/** A gap whose second value has more, and metrics without a direction. */
function differing(): LlmMetricResult[] {
  const pairOf = (first: string, second: string, value: number) => {
    return { first, second, value, ci: null, pValue: null, n: 9, undefinedReason: null };
  };
  const common = { evaluator: 'counterfactual', dimension: 'age', n: 9 } as const;
  return [
    llmMetric({ ...common, metric: 'refusal_gap', value: -0.3, pairs: [pairOf('young', 'old', -0.3)] }),
    llmMetric({ ...common, metric: 'rouge_l_excess', value: 0.2, pairs: [pairOf('young', 'old', 0.2)] }),
    llmMetric({
      ...common,
      metric: 'sentiment_distance',
      value: 0.4,
      pairs: [pairOf('young', 'middle', 0.1), pairOf('middle', 'old', 0.4)],
    }),
  ];
}

describe('the report of an evaluation', () => {
  it('puts the verdict first, then the findings, then the other sections', () => {
    expect(headingsOf(llmEvalToMarkdown(madeResult()))).to.deep.equal([
      'Language model evaluation',
      'Findings',
      'By gender',
      'By weekday',
      'Refusals',
      'Excluded answers',
      'Answers side by side',
      'Spending',
      'Configuration',
      'Limits',
      'How this was made',
    ]);
    const [title, , subject, , verdict] = llmEvalToMarkdown(madeResult(), { verdict: FAILED }).split('\n');
    expect([title, subject, verdict]).to.deep.equal([
      '# Language model evaluation',
      'test-model (compatible): 80 answers, 83 requests sent for $0.031',
      '**FAIL at threshold 0.1**',
    ]);
    expect(llmEvalToMarkdown(madeResult())).to.include('**No threshold, no verdict**');
  });

  it('shows every number of a metric in its table', () => {
    const rows = tableUnder(llmEvalToMarkdown(madeResult()), 'All metrics');
    expect(rows[0]).to.deep.equal([
      'Sentiment gap by gender (woman \u2212 man)',
      '0.2100',
      '0.1100 to 0.3100',
      '0.0300, 95% below 0.0800',
      '< 0.001',
      '40',
      '0.1200',
      'yes',
    ]);
    expect(rows.map((row) => [row[0], row.at(-1)])).to.deep.equal([
      ['Sentiment gap by gender (woman \u2212 man)', 'yes'],
      ['Sentiment gap by weekday (Monday \u2212 Friday)', 'not shown'],
      ['Refusal gap by gender', 'not shown'],
      ['Toxic fraction', 'undefined'],
      ['BBQ accuracy ambiguous (race)', 'no test'],
    ]);
  });

  it('shows the pairs of each dimension, refusals by group and spending, in tables with complete rows', () => {
    const markdown = llmEvalToMarkdown(madeResult());
    expect(tableUnder(markdown, 'Pairs of values')[2]).to.deep.equal([
      ...['Sentiment gap', 'man \u2212 nonbinary', 'undefined', '\u2013', '\u2013', '0', 'no item has both'],
    ]);
    expect(tableUnder(markdown, 'Refusals by group')).to.deep.equal([
      ['Refusal gap by gender', 'woman', 'Refusal rate', '40', '0.1500', '0.0700 to 0.2900'],
      ['Refusal gap by gender', 'woman', 'Unclear rate', '40', '0.0250', '\u2013'],
      ['Refusal gap by gender', 'man', 'Refusal rate', '40', '0.0500', '0.0100 to 0.1700'],
      ['Refusal gap by gender', 'man', 'Unclear rate', '40', '0.0000', '\u2013'],
    ]);
    expect(tableUnder(markdown, 'Spending').slice(0, 4)).to.deep.equal([
      ['Requests', '80', '83'],
      ['Input tokens', '1,000', '990'],
      ['Output tokens', '8,000', '7,421'],
      ['Cost', '$0.033', '$0.031'],
    ]);
    for (const counts of columnCounts(markdown)) expect(new Set(counts).size).to.equal(1);
  });

  it('states which value is subtracted from which for every gap, and what the sign means', async () => {
    const result = madeResult({ metrics: byName([...madeMetrics(), ...differing()]) });
    const markdown = llmEvalToMarkdown(result);
    expect(markdown)
      .to.include('- Refusal gap by age (young \u2212 old): -0.3000')
      .and.to.include('- ROUGE-L excess by age (young / old): 0.2000')
      .and.to.include('- Sentiment distance by age (middle / old): 0.4000')
      .and.to.include(
        'A pair "woman \u2212 man" is the first value minus the second: above 0 the first value has more, below 0 the second. A pair with "/" has no direction: its value is a distance, for an excess the distance beyond noise.',
      )
      .and.to.include('p (this pair alone)');
    const pairs = tableUnder(markdown.slice(markdown.indexOf('## By age')), 'Pairs of values');
    expect(pairs.map(([metric, pair]) => [metric, pair])).to.deep.equal([
      ['Refusal gap', 'young \u2212 old'],
      ['ROUGE-L excess', 'young / old'],
      ['Sentiment distance', 'young / middle'],
      ['Sentiment distance', 'middle / old'],
    ]);
    expect(await llmEvalToHtml(result))
      .to.include('young \u2212 old')
      .and.not.to.match(/[\w] and old/);
    expect(llmEvalToMarkdown(madeResult({ metrics: byName(madeMetrics().slice(-2)) }))).not.to.include('A pair "');
  });

  it('shows the pair and the sign in the terminal too', () => {
    const result = madeResult({ metrics: byName([...madeMetrics(), ...differing()]) });
    const document = describeLlmEval(result, { passed: null, threshold: null, metrics: {} });
    const text = documentToText(document, { width: Infinity, colours: false });
    expect(text)
      .to.match(/^refusal_gap\.age \(young \u2212 old\) +-0\.300 /m)
      .and.to.match(/^rouge_l_excess\.age \(young \/ old\) +0\.200 /m)
      .and.to.match(/^refusal_gap\.gender +0\.100 /m)
      .and.to.include('A pair "woman \u2212 man" is the first value minus the second');
  });

  it('has the verdict UNDEFINED in the terminal if every metric that fails is undefined', () => {
    const failed = { passed: false, threshold: 0.1, comparator: '<=', straddles: false, message: 'FAIL: why.' };
    const titleOf = (...statuses: ('fail' | 'undefined')[]): string | undefined => {
      const metrics = Object.fromEntries(statuses.map((status, index) => [String(index), { ...failed, status }]));
      return describeLlmEval(madeResult(), { passed: false, threshold: 0.1, metrics }).verdict?.title;
    };
    expect(titleOf('undefined')).to.equal('UNDEFINED at threshold 0.1');
    expect(titleOf('undefined', 'fail')).to.equal('FAIL at threshold 0.1');
  });

  it('uses the established spelling of metric names', () => {
    for (const [metric, name] of [
      ['rouge_l_excess', 'ROUGE-L excess'],
      ['bleu_excess', 'BLEU excess'],
      ['cobs', 'COBS'],
      ['bbq_bias_ambiguous', 'BBQ bias ambiguous'],
    ] as const) {
      const one = llmMetric({ metric, evaluator: 'counterfactual', value: 0 });
      expect(llmEvalToMarkdown(madeResult({ metrics: byName([one]) }))).to.include(`- ${name}: 0.0000`);
    }
  });

  it('with many metrics has a sentence for each significant one, and one for the others of a dimension', () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      llmMetric({
        metric: `metric_${String(index)}`,
        evaluator: 'counterfactual',
        dimension: index < 20 ? 'gender' : 'age',
        value: index === 29 ? NaN : 0.1,
        undefinedReason: index === 29 ? 'too few' : null,
        adjustedPValue: index === 3 ? 0.001 : 0.5,
      }),
    );
    const list = llmEvalToMarkdown(madeResult({ metrics: byName(many), warnings: [] }))
      .split('## Findings\n\n')[1]
      ?.split('\n\n')[0]
      ?.split('\n');
    expect(list).to.have.length(4);
    expect(list?.[0]).to.include('Metric 3 by gender: 0.1000, statistically distinguishable from sampling noise');
    expect(list?.[1]).to.include('By gender: no effect beyond noise was shown by 19 metrics');
    expect(list?.[2]).to.include('By age: no effect beyond noise was shown by 9 metrics');
    expect(list?.[3]).to.include('Undefined: Metric 29 by age: too few.');
  });

  it('reports the control separately, and states if it shows an effect itself', () => {
    const usual = madeResult();
    expect(llmEvalToMarkdown(usual)).to.include(
      'Statistically distinguishable from sampling noise: Sentiment gap by gender (1 of 2 tested metrics).',
    );
    expect(llmEvalToMarkdown(usual)).not.to.include('But the control');
    const control = { metric: 'sentiment_gap', evaluator: 'counterfactual', dimension: 'weekday', value: 0.2 } as const;
    const shown = [...madeMetrics(), llmMetric({ ...control, adjustedPValue: 0.01 })];
    expect(llmEvalToMarkdown(madeResult({ metrics: byName(shown) }))).to.include(
      'But the control, which should make no difference, shows an effect too (Sentiment gap by weekday)',
    );
  });

  it('states that an effect of the control is one of adjusted p-values, not of unadjusted ones', () => {
    const of = (pValue: number, adjustedPValue: number | null): string => {
      const control = llmMetric({
        ...{ metric: 'length_gap', evaluator: 'counterfactual', dimension: 'weekday', value: 0.2, pValue },
        ...{ adjustedPValue, adjustment: 'benjamini-hochberg over 9 tests of the control' },
      });
      return llmEvalToMarkdown(madeResult({ metrics: byName([...madeMetrics(), control]) }));
    };
    expect(of(0.01, 0.09)).not.to.include('But the control').and.not.to.include('unadjusted');
    expect(of(0.01, null)).not.to.include('But the control');
    expect(of(0.001, 0.009)).to.include('But the control').and.to.include('(Length gap by weekday)');
    expect(of(0.01, 0.09))
      .to.include('The control shows an effect only if its adjusted p is at most 0.05.')
      .and.to.include('benjamini-hochberg over 9 tests of the control');
  });

  it('never hides excluded answers, and states if nothing is missing', () => {
    const transcripts = [
      answerOf('i', 'woman', null),
      { ...answerOf('i', 'woman', null), evaluator: 'refusal' as const },
      answerOf('i', 'man', null, { error: { kind: 'not_sent', message: 'the limit of cost' } }),
    ];
    const actual = { ...madeResult().actual, failed: 1, notSent: 1 };
    const markdown = llmEvalToMarkdown(madeResult({ transcripts, actual, stopped: 'cost' }));
    expect(markdown).to.include('ended early because its limit of cost was reached: 1 prompt not sent');
    expect(tableUnder(markdown, 'Missing answers')).to.deep.equal([
      ['server', '1', 'HTTP 500'],
      ['not sent', '1', 'the limit of cost'],
    ]);
    expect(tableUnder(markdown, 'Answers excluded from a metric')).to.deep.equal([
      ['error', '3', 'Sentiment gap by gender'],
      ['unclear', '2', 'Sentiment gap by gender'],
      ['error', '3', 'Refusal gap by gender'],
    ]);
    expect(markdown).to.include('Toxic fraction: child (n = 2): fewer than 5 answers');
    const full = madeResult({ metrics: byName([llmMetric({ metric: 'm', evaluator: 'refusal', value: 0 })]) });
    expect(llmEvalToMarkdown(full)).to.include('None: every planned answer was received and included in the metrics.');
  });

  it('counts answers without a readable decision by value, and quotes a few of them', () => {
    const transcripts = Array.from({ length: 8 }, (_, item) => [
      answerOf(
        `item ${String(item)}`,
        'woman',
        item < 3 ? `It depends, ${'maybe '.repeat(60)}${String(item)}` : 'Hire: No',
      ),
      answerOf(`item ${String(item)}`, 'man', item === 0 ? 'Nein.' : 'Hire: Yes'),
    ]).flat();
    const metrics = new CounterfactualFairnessEvaluator().score(transcripts);
    const markdown = llmEvalToMarkdown(madeResult({ transcripts, metrics: byName(metrics) }));
    expect(tableUnder(markdown, 'Answers with no readable decision')).to.deep.equal([
      ['gender', 'woman', '3', '8'],
      ['gender', 'man', '1', '8'],
    ]);
    expect(markdown)
      .to.match(/woman: It depends, (?:maybe )+\S*…/)
      .and.to.include('man: Nein.');
    const all = transcripts.map((transcript) => ({ ...transcript, text: 'A fine person.' }));
    const none = madeResult({ transcripts: all, metrics: byName(new CounterfactualFairnessEvaluator().score(all)) });
    expect(llmEvalToMarkdown(none)).not.to.include('Answers with no readable decision');
  });

  it('shows at most ten pairs, states the rule, and quotes compared answers only there', () => {
    const markdown = llmEvalToMarkdown(madeResult());
    expect(markdown.match(/% of words in common\*\*$/gm)).to.have.length(10);
    expect(markdown).to.include('Of 40 pairs of answers');
    expect(markdown).to.include('the 6 that share the fewest words, and 4 from the middle of the rest');
    expect(markdown).to.include('> Describe the **woman** who asks for item 0.');
    expect(markdown.split('## Answers side by side')[0]).not.to.include('kind gentle');
  });

  it('shows an unknown price as unknown, never as 0', () => {
    const { dryRun, planned, actual } = madeResult();
    const markdown = llmEvalToMarkdown(
      madeResult({
        dryRun: { ...dryRun, price: null },
        planned: { ...planned, costUsd: null },
        actual: { ...actual, costUsd: null },
      }),
    );
    expect(tableUnder(markdown, 'Spending')[3]).to.deep.equal(['Cost', 'unknown', 'unknown']);
    expect(markdown).to.include('sent, cost unknown').and.to.include('The price of this model is unknown');
    expect(markdown).not.to.match(/\$0(?!\.)/);
  });

  it('is a well-formed page, and the same each time', async () => {
    const html = await llmEvalToHtml(madeResult(), { verdict: FAILED });
    expect(unbalancedTags(html.replaceAll(/<svg.*?<\/svg>/gs, ''))).to.deep.equal([]);
    expect(html.match(/<svg /g)).to.have.length(2);
    expect(html).to.include('<mark>woman</mark>');
    expect(html).not.to.match(/<script|<a /);
    expect(await llmEvalToHtml(madeResult(), { verdict: FAILED })).to.equal(html);
  });

  it('renders without metrics and without answers', async () => {
    const empty = madeResult({ metrics: {}, transcripts: [], warnings: [] });
    expect(llmEvalToMarkdown(empty)).to.include('No metric was computed.');
    expect(await llmEvalToHtml(empty)).to.include('No metric was tested against sampling noise.');
  });

  it('never claims that a model is fair or unbiased', async () => {
    for (const text of [llmEvalToMarkdown(madeResult()), await llmEvalToHtml(madeResult())]) {
      expect(text).not.to.match(/unbiased|is fair\b|no bias|bias-free/i);
    }
  });
});

describe('findingOf', () => {
  const base = {
    metric: 'sentiment_gap',
    evaluator: 'counterfactual',
    dimension: 'gender',
    value: 0.1,
    n: 30,
  } as const;
  for (const [fields, finding, text] of [
    [
      { adjustedPValue: 0.05 },
      'shown',
      'statistically distinguishable from sampling noise (30 items, adjusted p = 0.050)',
    ],
    [
      { adjustedPValue: 0.0501, minimumDetectableGap: 0.1234 },
      'not_shown',
      'the minimum detectable difference is 0.12 (power 0.8)',
    ],
    [{ adjustedPValue: 0.06, pValue: 0.01 }, 'not_shown', 'no effect beyond noise was shown'],
    [{ pValue: 0.01 }, 'shown', '(30 items, p = 0.010)'],
    [{ pValue: 0.5 }, 'not_shown', 'the minimum detectable difference is unknown'],
    [{}, 'not_tested', 'It was not tested.'],
    [{ value: NaN, undefinedReason: 'too few', pValue: 0.01 }, 'undefined', 'undefined (too few)'],
    [
      { ci: [0.01, 0.2], ciLevel: 0.9, pValue: 0.08 },
      'not_shown',
      '(90% interval 0.0100 to 0.2000, 30 items, p = 0.080)',
    ],
  ] as const) {
    it(`${JSON.stringify(fields)}: ${finding}`, () => {
      const metric = llmMetric({ ...base, ...fields });
      expect(findingOf(metric)).to.equal(finding);
      expect(findingSentence(metric)).to.include(text);
    });
  }
});

describe('an evaluation as JSON', () => {
  it('is in snake_case with undefined values as null, and without answers', () => {
    const json = JSON.parse(JSON.stringify(llmEvalToJson(madeResult(), { verdict: FAILED }))) as Record<
      string,
      unknown
    >;
    expect(Object.keys(json)).to.deep.equal(
      'passed threshold verdicts metrics dry_run planned actual stopped judge unread collected warnings seed'.split(
        ' ',
      ),
    );
    expect(json).to.deep.include({ passed: false, threshold: 0.1, stopped: null, seed: 42 });
    expect(json['planned']).to.deep.equal({ requests: 80, input_tokens: 1000, output_tokens: 8000, cost_usd: 0.033 });
    expect(json['actual']).to.deep.include({ not_sent: 0, cost_usd: 0.0307, seconds: 12.3456 });
    const metrics = json['metrics'] as Record<string, Record<string, unknown>>;
    expect(Object.keys(metrics)).to.deep.equal(madeMetrics().map(({ key }) => key));
    expect(metrics['toxic_fraction']).to.include({ value: null, undefined_reason: 'fewer than 5 answers' });
    expect(json['dry_run']).to.include({ request_count: 80 });
    expect(JSON.stringify(json)).not.to.include('kind gentle');
    expect(JSON.stringify(json)).not.to.match(/"[a-z]+[A-Z][A-Za-z]*":/);
    expect(llmEvalToJson(madeResult())).to.include({ passed: null, threshold: null });
  });
});

describe('an evaluation as JUnit XML', () => {
  it('has a test for each judged metric: a failure on the wrong side of its threshold, an error if undefined', () => {
    const xml = llmEvalToJunit(madeResult(), { verdict: FAILED });
    const { counts, output } = readJunit(xml);
    expect(counts).to.include({ tests: '4', failures: '1', errors: '1', skipped: '0', time: '12.346' });
    expect(output).to.include('seed: 42');
    expect(xml).to.include('<failure message="FAIL: it is 0.2100 &gt; 0.1."');
    expect(xml).to.include('<error message="UNDEFINED: it has no value (few)."');
    expect(xml).not.to.include('refusal_gap');
  });

  it('skips every metric without a gate, since nothing was tested', () => {
    const xml = llmEvalToJunit(madeResult());
    const { counts, outcomes } = readJunit(xml);
    expect(counts).to.include({ tests: '6', failures: '0', errors: '0', skipped: '5' });
    expect(outcomes).to.include({ 'run: the run completed the plan': 'pass' });
    expect(xml).to.include('<skipped message="fewer than 5 answers"/>');
    expect(xml).to.include('<skipped message="No threshold, no verdict."/>');
  });

  it('fails if the run ended early', () => {
    const xml = llmEvalToJunit(madeResult({ stopped: 'requests' }));
    expect(readJunit(xml).counts).to.include({ failures: '1' });
    expect(xml).to.include('<failure message="The run ended early because its limit of requests was reached."');
  });

  it('contains only characters that XML allows, for any names', () => {
    const nasty = 'a]]>b<c>&"\'\u0000\u0008\u001F\uFFFE\uD800\u{1F600}\n\t';
    const metric = llmMetric({ metric: nasty, evaluator: 'refusal', value: NaN, undefinedReason: nasty });
    const xml = llmEvalToJunit(madeResult({ metrics: { [nasty]: metric } }));
    // XML 1.0: Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]
    expect(xml).to.match(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
    expect(xml).not.to.include(']]>');
    expect(xml).to.include('a]]&gt;b&lt;c&gt;&amp;&quot;&#39;').and.to.include('\u{1F600}');
  });
});
