import { expect } from 'chai';

import type { ConfigValidationError } from '../../../src/exceptions/index.ts';
import { type ConfigProblem, parseConfigText } from '../../../src/pipeline/config/index.ts';

interface BadConfig {
  readonly title: string;
  readonly text: string;
  /** line:column */
  readonly at: string;
  readonly key: string;
  readonly message: string;
  readonly suggestion: string;
}

const TRANSFORMERS =
  'InstanceReweighting, ReweighingTransformer, DisparateImpactRemover, ProxyDropper, CorrelationRemover, LearnedFairRepresentations';
const QUOTES = "Put the text in quotes: '…'.";
const CORRECT = 'Correct it.';
const LIST = 'Write a list: [a, b], or lines that start with a dash.';

/** Configurations with one problem each. The expected positions are written down from the text. */
const BAD: readonly BadConfig[] = [
  // The text is not valid YAML
  {
    title: 'an empty file',
    text: '',
    at: '1:1',
    key: '',
    message: 'the file is empty',
    suggestion: 'Start with the sensitive attributes, as in sensitive: [sex].',
  },
  {
    title: 'a file of comments',
    text: '# sensitive: [sex]\n',
    at: '1:1',
    key: '',
    message: 'the file is empty',
    suggestion: 'Start with the sensitive attributes, as in sensitive: [sex].',
  },
  {
    title: 'a list at the top',
    text: '# mine\n- sensitive\n- sex\n',
    at: '2:1',
    key: '',
    message: 'a configuration must be a mapping of keys; got a list of 2',
    suggestion: 'Start with the sensitive attributes, as in sensitive: [sex].',
  },
  {
    title: 'a text at the top',
    text: 'sensitive\n',
    at: '1:1',
    key: '',
    message: "a configuration must be a mapping of keys; got 'sensitive'",
    suggestion: 'Start with the sensitive attributes, as in sensitive: [sex].',
  },
  {
    title: 'a tab as indent',
    text: 'sensitive:\n\t- sex\n',
    at: '2:1',
    key: '',
    message: 'a tab is used to indent',
    suggestion: 'Indent with spaces.',
  },
  {
    title: 'an open bracket',
    text: 'sensitive: [sex\n',
    at: '2:1',
    key: '',
    message: 'this is not YAML: flow sequence in block collection must be sufficiently indented and end with a ]',
    suggestion: `Check indentation, brackets and quotes. ${QUOTES}`,
  },
  {
    title: 'an open quote',
    text: "sensitive: ['sex]\n",
    at: '2:1',
    key: '',
    message: 'a closing quote, bracket or colon is missing',
    suggestion: 'Add the missing character.',
  },
  {
    title: 'a label that starts with >, without quotes',
    text: 'sensitive: [sex]\ntraining:\n  method: reductions\n  target_column: income\n  positive_label: >50K\n',
    at: '5:21',
    key: '',
    message: 'this is not expected here',
    suggestion: QUOTES,
  },
  {
    title: 'a text that starts with @, without quotes',
    text: 'sensitive: [sex]\nreport_out: @home.md\n',
    at: '2:13',
    key: '',
    message: 'a text cannot start with this character',
    suggestion: QUOTES,
  },
  {
    title: 'a colon in a text, without quotes',
    text: 'sensitive: age: years\n',
    at: '1:12',
    key: '',
    message: 'a second `key: value` follows where one value is expected',
    suggestion: "Indent it below its key, or put a text with ': ' in quotes.",
  },
  {
    title: 'a second document',
    text: 'sensitive: [sex]\n---\nalpha: 0.1\n',
    at: '2:1',
    key: '',
    message: 'a second document starts here',
    suggestion: 'Keep one document: remove the line ---.',
  },
  {
    title: 'an unknown tag',
    text: 'sensitive: !columns [sex]\n',
    at: '1:12',
    key: '',
    message: 'this tag is not known',
    suggestion: `Remove it. If it is a text: ${QUOTES}`,
  },
  {
    title: 'a key given twice',
    text: 'sensitive: [sex]\nalpha: 0.05\nsensitive: [race]\n',
    at: '3:1',
    key: '',
    message: "the key 'sensitive' occurs twice, first in line 1",
    suggestion: 'Keep one of the two.',
  },
  {
    title: 'a group given twice, once as a number and once as its text',
    text: "sensitive: [g]\nbenchmarks:\n  g: { 1: 0.5, '1': 0.5 }\n",
    at: '3:16',
    key: '',
    message: "the key '1' occurs twice, first in line 3",
    suggestion: 'Keep one of the two.',
  },
  {
    title: 'a key that is a list',
    text: '? [sensitive]\n: [sex]\n',
    at: '1:3',
    key: '',
    message: 'a key must be a text',
    suggestion: 'Write `key: value`.',
  },
  {
    title: 'an alias without an anchor',
    text: 'sensitive: *attributes\n',
    at: '1:12',
    key: '',
    message: "the alias '*attributes' has no anchor above it",
    suggestion: 'Write the values instead of aliases.',
  },
  {
    title: 'aliases that multiply',
    text: [
      'sensitive: [sex]',
      'features: [&a [x, x], &b [*a, *a, *a, *a, *a, *a], &c [*b, *b, *b, *b, *b, *b], &d [*c, *c, *c, *c, *c, *c],',
      '  &e [*d, *d, *d, *d, *d, *d], *e]',
    ].join('\n'),
    at: '2:27',
    key: '',
    message: 'there are more than 100 aliases',
    suggestion: 'Write the values instead of aliases.',
  },
  {
    title: 'bytes',
    text: 'sensitive: !!binary aGk=\n',
    at: '1:21',
    key: '',
    message: 'this is not a text, a number, true or false',
    suggestion: 'Remove the tag that starts with !!.',
  },
  // Keys
  {
    title: 'a mistyped key that is required',
    text: 'sensitve: [sex]\n',
    at: '1:1',
    key: 'sensitve',
    message: "unknown key 'sensitve'",
    suggestion: "Did you mean 'sensitive'?",
  },
  {
    title: 'a mistyped key',
    text: 'sensitive: [sex]\n\nproxy_treshold: 0.2\n',
    at: '3:1',
    key: 'proxy_treshold',
    message: "unknown key 'proxy_treshold'",
    suggestion: "Did you mean 'proxy_threshold'?",
  },
  {
    title: 'a key in camelCase',
    text: 'sensitive: [sex]\nvalidationThreshold: 0.1\n',
    at: '2:1',
    key: 'validationThreshold',
    message: "unknown key 'validationThreshold'",
    suggestion: "Did you mean 'validation_threshold'?",
  },
  {
    title: 'a key without a similar key',
    text: '{ "sensitive": ["sex"], "colour_of_the_report": "red" }',
    at: '1:25',
    key: 'colour_of_the_report',
    message: "unknown key 'colour_of_the_report'",
    suggestion:
      "The keys are 'sensitive', 'intersections', 'benchmarks', 'alpha', 'proxy_threshold', 'report_out', 'pipeline', 'features', 'na_values', 'decimal', 'training' and 'fairness_metric', and 5 more.",
  },
  {
    title: 'the key __proto__',
    text: 'sensitive: [sex]\n__proto__: { alpha: 0.5 }\n',
    at: '2:1',
    key: '__proto__',
    message: "unknown key '__proto__'",
    suggestion:
      "The keys are 'sensitive', 'intersections', 'benchmarks', 'alpha', 'proxy_threshold', 'report_out', 'pipeline', 'features', 'na_values', 'decimal', 'training' and 'fairness_metric', and 5 more.",
  },
  {
    title: 'no sensitive attributes',
    text: '# only a level\nalpha: 0.1\n',
    at: '2:1',
    key: 'sensitive',
    message: 'sensitive: is missing; it must be a name or a list of names, at least 1',
    suggestion: "Add the key 'sensitive'.",
  },
  {
    title: 'both pipeline and steps',
    text: 'sensitive: [sex]\npipeline: []\nsteps: []\n',
    at: '3:1',
    key: 'pipeline',
    message: "the keys 'pipeline' and 'steps' are the same",
    suggestion: 'Keep one of the two.',
  },
  // Values
  {
    title: 'an empty list of attributes',
    text: 'sensitive: []\n',
    at: '1:12',
    key: 'sensitive',
    message: 'sensitive: must be a list of names, at least 1; got an empty list',
    suggestion: CORRECT,
  },
  {
    title: 'an empty value',
    text: 'alpha: 0.1\nsensitive:\n',
    at: '2:1',
    key: 'sensitive',
    message: 'sensitive: must be a name or a list of names, at least 1; got nothing',
    suggestion: 'Set a value, or leave the key out.',
  },
  {
    title: 'a number for a name',
    text: 'sensitive: [sex, 2015]\n',
    at: '1:18',
    key: 'sensitive[1]',
    message: 'sensitive[1]: must be a name; got 2015',
    suggestion: "Put the value in quotes: '2015'.",
  },
  {
    title: 'an attribute named twice',
    text: 'sensitive:\n  - sex\n  - race\n  - sex\n',
    at: '4:5',
    key: 'sensitive[2]',
    message: "sensitive[2]: lists 'sex' twice",
    suggestion: 'List it once.',
  },
  {
    title: 'a level out of range',
    text: 'sensitive: sex\nalpha: 1\n',
    at: '2:8',
    key: 'alpha',
    message: 'alpha: must be a number above 0 and below 1; got 1',
    suggestion: 'Correct the value, or leave the key out to use 0.05.',
  },
  {
    title: 'a level in quotes',
    text: "sensitive: sex\nalpha: '0.01'\n",
    at: '2:8',
    key: 'alpha',
    message: "alpha: must be a number above 0 and below 1; got '0.01'",
    suggestion: 'Write the number without quotes.',
  },
  {
    title: 'a threshold that is not a number',
    text: 'sensitive: sex\nvalidation_threshold: .nan\n',
    at: '2:23',
    key: 'validation_threshold',
    message: 'validation_threshold: must be a number of 0 or more; got .nan',
    suggestion: CORRECT,
  },
  {
    title: 'an infinite threshold',
    text: 'sensitive: sex\nvalidation_threshold: .inf\n',
    at: '2:23',
    key: 'validation_threshold',
    message: 'validation_threshold: must be a number of 0 or more; got .inf',
    suggestion: CORRECT,
  },
  {
    title: 'a proxy threshold above 1',
    text: 'sensitive: sex\nproxy_threshold: 1.01\n',
    at: '2:18',
    key: 'proxy_threshold',
    message: 'proxy_threshold: must be a number from 0 to 1; got 1.01',
    suggestion: 'Correct the value, or leave the key out to use 0.3.',
  },
  {
    title: 'a report with another extension',
    text: 'sensitive: sex\nreport_out: report.pdf\n',
    at: '2:13',
    key: 'report_out',
    message: "report_out: must be a text that ends with .md or .json or .html; got 'report.pdf'",
    suggestion: 'For example: data-report.md.',
  },
  {
    title: 'a constraint where a metric belongs',
    text: 'sensitive: sex\nfairness_metric: demographic_parity\n',
    at: '2:18',
    key: 'fairness_metric',
    message: "fairness_metric: must be a text that ends with _difference or _ratio; got 'demographic_parity'",
    suggestion: 'For example: demographic_parity_difference.',
  },
  {
    title: 'one feature that is not a list',
    text: 'sensitive: sex\nfeatures: age\n',
    at: '2:11',
    key: 'features',
    message: "features: must be a list of names, at least 1; got 'age'",
    suggestion: LIST,
  },
  {
    title: 'a feature named twice',
    text: 'sensitive: sex\nfeatures: [age, hours, age]\n',
    at: '2:24',
    key: 'features[2]',
    message: "features[2]: lists 'age' twice",
    suggestion: 'List it once.',
  },
  {
    title: 'a sensitive feature',
    text: 'sensitive: [sex, race]\nfeatures: [age, race]\n',
    at: '2:17',
    key: 'features[1]',
    message: "features[1]: 'race' is listed in sensitive, and sensitive columns cannot be features",
    suggestion: 'List it in only one of the two.',
  },
  // Intersections and benchmarks
  {
    title: 'an intersection of one attribute',
    text: 'sensitive: [sex, race]\nintersections: [[sex]]\n',
    at: '2:17',
    key: 'intersections[0]',
    message: 'intersections[0]: must be a list of names, at least 2; got a list of 1',
    suggestion: CORRECT,
  },
  {
    title: 'an intersection that is not in a list',
    text: 'sensitive: [sex, race]\nintersections: [sex]\n',
    at: '2:17',
    key: 'intersections[0]',
    message: "intersections[0]: must be a list of names, at least 2; got 'sex'",
    suggestion: LIST,
  },
  {
    title: 'an intersection with another column',
    text: 'sensitive: [sex, race]\nintersections:\n  - [sex, rase]\n',
    at: '3:11',
    key: 'intersections[0][1]',
    message: "intersections[0][1]: 'rase' is not listed in sensitive",
    suggestion: "Did you mean 'race'?",
  },
  {
    title: 'an intersection of an attribute with itself',
    text: 'sensitive: [sex, race]\nintersections: [[sex, sex]]\n',
    at: '2:23',
    key: 'intersections[0][1]',
    message: "intersections[0][1]: lists 'sex' twice",
    suggestion: 'List it once.',
  },
  {
    title: 'an intersection that is repeated in another order',
    text: 'sensitive: [sex, race]\nintersections: [[sex, race], [race, sex]]\n',
    at: '2:30',
    key: 'intersections[1]',
    message: 'intersections[1]: repeats the intersection of race and sex',
    suggestion: 'List it once.',
  },
  {
    title: 'benchmarks of another column',
    text: 'sensitive: [sex]\nbenchmarks:\n  country: { north: 0.5, south: 0.5 }\n',
    at: '3:3',
    key: 'benchmarks.country',
    message: "benchmarks.country: 'country' is not listed in sensitive",
    suggestion: 'Add it to sensitive, or use one of these: sex.',
  },
  {
    title: 'proportions that do not sum to 1',
    text: 'sensitive: [sex]\nbenchmarks:\n  sex: { female: 0.5, male: 0.4 }\n',
    at: '3:3',
    key: 'benchmarks.sex',
    message: 'benchmarks.sex: its proportions must sum to 1; they sum to 0.9',
    suggestion: 'List every group with its share of the population.',
  },
  {
    title: 'a percentage for a proportion',
    text: 'sensitive: [sex]\nbenchmarks:\n  sex: { female: 51, male: 0.49 }\n',
    at: '3:18',
    key: 'benchmarks.sex.female',
    message: 'benchmarks.sex.female: must be a number from 0 to 1; got 51',
    suggestion: CORRECT,
  },
  {
    title: 'proportions of a label that is not an identifier in code',
    text: "sensitive: [sex]\nbenchmarks:\n  sex: { '<not said>': x, __proto__: 1 }\n",
    at: '3:24',
    key: "benchmarks.sex['<not said>']",
    message: "benchmarks.sex['<not said>']: must be a number from 0 to 1; got 'x'",
    suggestion: CORRECT,
  },
  {
    title: 'a bad proportion of the label __proto__',
    text: 'sensitive: [sex]\nbenchmarks:\n  sex: { female: 1, __proto__: -1 }\n',
    at: '3:32',
    key: 'benchmarks.sex.__proto__',
    message: 'benchmarks.sex.__proto__: must be a number from 0 to 1; got -1',
    suggestion: CORRECT,
  },
  // Steps
  {
    title: 'steps that are not a list',
    text: 'sensitive: [sex]\nsteps:\n  transformer: ProxyDropper\n',
    at: '3:3',
    key: 'steps',
    message: 'steps: must be a list of mappings; got a mapping',
    suggestion: LIST,
  },
  {
    title: 'a step that is only a name',
    text: 'sensitive: [sex]\npipeline:\n  - ProxyDropper\n',
    at: '3:5',
    key: 'pipeline[0]',
    message: "pipeline[0]: must be a mapping with name, transformer, params; got 'ProxyDropper'",
    suggestion: CORRECT,
  },
  {
    title: 'a step without a transformer',
    text: 'sensitive: [sex]\npipeline:\n  - name: first\n',
    at: '3:5',
    key: 'pipeline[0].transformer',
    message: `pipeline[0].transformer: is missing; it must be one of ${TRANSFORMERS}`,
    suggestion: "Add the key 'transformer'.",
  },
  {
    title: 'a mistyped transformer under the alias of its key',
    text: 'sensitive: [sex]\nsteps:\n  - kind: InstanceReweighing\n',
    at: '3:11',
    key: 'steps[0].kind',
    message: `steps[0].kind: must be one of ${TRANSFORMERS}; got 'InstanceReweighing'`,
    suggestion: "Did you mean 'InstanceReweighting'?",
  },
  {
    title: 'a transformer without a similar name',
    text: 'sensitive: [sex]\npipeline:\n  - transformer: magic\n',
    at: '3:18',
    key: 'pipeline[0].transformer',
    message: `pipeline[0].transformer: must be one of ${TRANSFORMERS}; got 'magic'`,
    suggestion: 'Use one of these names.',
  },
  {
    title: 'a mistyped key of a step',
    text: 'sensitive: [sex]\npipeline:\n  - transformer: ProxyDropper\n    parms: { threshold: 0.2 }\n',
    at: '4:5',
    key: 'pipeline[0].parms',
    message: "pipeline[0]: unknown key 'parms'",
    suggestion: "Did you mean 'params'?",
  },
  {
    title: 'a mistyped key for the transformer',
    text: 'sensitive: [sex]\npipeline:\n  - tranformer: ProxyDropper\n',
    at: '3:5',
    key: 'pipeline[0].tranformer',
    message: "pipeline[0]: unknown key 'tranformer'",
    suggestion: "Did you mean 'transformer'?",
  },
  {
    title: 'a mistyped parameter',
    text: 'sensitive: [sex]\npipeline:\n  - transformer: InstanceReweighting\n    params:\n      max_wieght: 5\n',
    at: '5:7',
    key: 'pipeline[0].params.max_wieght',
    message: "pipeline[0].params: unknown key 'max_wieght'",
    suggestion: "Did you mean 'max_weight'?",
  },
  {
    title: "another transformer's parameter",
    text: 'sensitive: [sex]\npipeline:\n  - transformer: CorrelationRemover\n    params: { repair_level: 1 }\n',
    at: '4:15',
    key: 'pipeline[0].params.repair_level',
    message: "pipeline[0].params: unknown key 'repair_level'",
    suggestion: "The keys are 'sensitive', 'features' and 'alpha'.",
  },
  {
    title: 'a parameter out of range, written through an alias',
    text: 'sensitive: [sex]\nproxy_threshold: &half 0.5\npipeline:\n  - transformer: ProxyDropper\n    params: { threshold: 0.2, max_drop: *half }\n',
    at: '5:41',
    key: 'pipeline[0].params.max_drop',
    message: 'pipeline[0].params.max_drop: must be a whole number of 0 or more; got 0.5',
    suggestion: CORRECT,
  },
  {
    title: 'an invalid name in a list where a single name is allowed',
    text: 'sensitive: [sex]\npipeline:\n  - transformer: ProxyDropper\n    params: { sensitive: [sex, true] }\n',
    at: '4:32',
    key: 'pipeline[0].params.sensitive[1]',
    message: 'pipeline[0].params.sensitive[1]: must be a name; got true',
    suggestion: "Put the value in quotes: 'true'.",
  },
  {
    title: "a step's proportions that do not sum to 1",
    text: 'sensitive: [sex]\npipeline:\n  - transformer: InstanceReweighting\n    params: { benchmarks: { sex: { f: 0.2, m: 0.2 } } }\n',
    at: '4:29',
    key: 'pipeline[0].params.benchmarks.sex',
    message: 'pipeline[0].params.benchmarks.sex: its proportions must sum to 1; they sum to 0.4',
    suggestion: 'List every group with its share of the population.',
  },
  {
    title: 'two steps with the same name',
    text: 'sensitive: [sex]\npipeline:\n  - { name: a, transformer: ProxyDropper }\n  - { name: a, transformer: CorrelationRemover }\n',
    at: '4:13',
    key: 'pipeline[1].name',
    message: "pipeline[1].name: the name 'a' is already used by pipeline[0]",
    suggestion: 'Give it another name.',
  },
  // Training
  {
    title: 'training without a target',
    text: 'sensitive: [sex]\ntraining:\n  method: reductions\n',
    at: '3:3',
    key: 'training.target_column',
    message: 'training.target_column: is missing; it must be a name',
    suggestion: "Add the key 'target_column'.",
  },
  {
    title: 'an unknown method',
    text: 'sensitive: [sex]\ntraining: { method: reduction, target_column: y }\n',
    at: '2:21',
    key: 'training.method',
    message: "training.method: must be one of reductions, regularized, lagrangian; got 'reduction'",
    suggestion: "Did you mean 'reductions'?",
  },
  {
    title: 'a mistyped key for the method',
    text: 'sensitive: [sex]\ntraining: { metod: reductions, target_column: y }\n',
    at: '2:13',
    key: 'training.metod',
    message: "training: unknown key 'metod'",
    suggestion: "Did you mean 'method'?",
  },
  {
    title: 'a mistyped parameter of a method',
    text: 'sensitive: [sex]\ntraining:\n  method: reductions\n  target_column: y\n  params:\n    difference_bond: 0.01\n',
    at: '6:5',
    key: 'training.params.difference_bond',
    message: "training.params: unknown key 'difference_bond'",
    suggestion: "Did you mean 'difference_bound'?",
  },
  {
    title: "another method's constraint",
    text: 'sensitive: [sex]\ntraining:\n  method: reductions\n  target_column: y\n  params: { constraint: equal_opportunity }\n',
    at: '5:25',
    key: 'training.params.constraint',
    message:
      "training.params.constraint: must be one of demographic_parity, equalized_odds, true_positive_rate_parity, false_positive_rate_parity, error_rate_parity, bounded_group_loss; got 'equal_opportunity'",
    suggestion: 'Use one of these names.',
  },
  {
    title: 'a cost with an unknown name',
    text: 'sensitive: [sex]\ntraining:\n  method: reductions\n  target_column: y\n  params:\n    costs: { false_positive: 1, false_negative: 2, falsenegative: 3 }\n',
    at: '6:52',
    key: 'training.params.costs.falsenegative',
    message: "training.params.costs: unknown key 'falsenegative'",
    suggestion: "Did you mean 'false_negative' or 'false_positive'?",
  },
  {
    title: 'a range with one end',
    text: 'sensitive: [sex]\ntraining:\n  method: reductions\n  target_column: y\n  params: { constraint: bounded_group_loss, range: [0] }\n',
    at: '5:52',
    key: 'training.params.range',
    message: 'training.params.range: must be [a number, a number]; got a list of 1',
    suggestion: CORRECT,
  },
  {
    title: 'a hidden layer without units',
    text: 'sensitive: [sex]\ntraining: { method: lagrangian, target_column: y, params: { hidden: [16, 0] } }\n',
    at: '2:74',
    key: 'training.params.hidden[1]',
    message: 'training.params.hidden[1]: must be a whole number from 1 to 4096; got 0',
    suggestion: CORRECT,
  },
  {
    title: 'a sensitive target',
    text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: sex }\n',
    at: '2:48',
    key: 'training.target_column',
    message: "training.target_column: 'sex' is also listed in sensitive",
    suggestion: 'Choose another column, or remove it there.',
  },
  {
    title: 'a target among the features',
    text: 'sensitive: [sex]\nfeatures: [age, y]\ntraining: { method: reductions, target_column: y }\n',
    at: '3:48',
    key: 'training.target_column',
    message: "training.target_column: 'y' is also listed in features",
    suggestion: 'Choose another column, or remove it there.',
  },
  {
    title: 'a list as a label',
    text: 'sensitive: [sex]\ntraining: { method: reductions, target_column: y, positive_label: [1] }\n',
    at: '2:67',
    key: 'training.positive_label',
    message: 'training.positive_label: must be a text or a number or true or false; got a list of 1',
    suggestion: CORRECT,
  },
  // The gate
  {
    title: 'an unknown metric',
    text: 'sensitive: sex\nfairness_metric: demografic_parity_difference\n',
    at: '2:18',
    key: 'fairness_metric',
    message: "fairness_metric: there is no metric named 'demografic_parity_difference'",
    suggestion:
      "Did you mean 'demographic_parity_difference', 'accuracy_parity_difference' or 'mae_parity_difference'?",
  },
  ...(
    [
      ['', 5, 'demographic_parity_difference', '0.05'],
      ['fairness_metric: equalized_odds_difference\n', 10, 'equalized_odds_difference', '0.1'],
      ['fairness_metric: f1_difference\n', 12.5, 'f1_difference', '0.125'],
      ['fairness_metric: roc_auc_difference\n', 7, 'roc_auc_difference', '0.07'],
    ] as const
  ).map(([line, threshold, metric, meant]) => ({
    title: `a threshold of ${String(threshold)} for ${metric}, which lies between 0 and 1`,
    text: `${line}validation_threshold: ${String(threshold)}\nsensitive: sex\n`,
    at: line === '' ? '1:23' : '2:23',
    key: 'validation_threshold',
    message: `validation_threshold: ${metric} is at most 1, so that ${String(threshold)} always passes`,
    suggestion: `For ${String(threshold)} percent write ${meant}.`,
  })),
  {
    title: 'a threshold above 1 for a difference of rates that is not a percentage',
    text: 'sensitive: sex\nvalidation_threshold: 101\n',
    at: '2:23',
    key: 'validation_threshold',
    message: 'validation_threshold: demographic_parity_difference is at most 1, so that 101 always passes',
    suggestion: 'Use a number from 0 to 1, such as 0.1.',
  },
  {
    title: 'a ratio that cannot be reached',
    text: 'sensitive: sex\nfairness_metric: demographic_parity_ratio\nvalidation_threshold: 80\n',
    at: '3:23',
    key: 'validation_threshold',
    message: 'validation_threshold: demographic_parity_ratio is at most 1, so that 80 never passes',
    suggestion: 'For 80 percent write 0.8.',
  },
  {
    title: 'a ratio of numbers that cannot be reached',
    text: 'sensitive: sex\nfairness_metric: mae_parity_ratio\nvalidation_threshold: 1.01\n',
    at: '3:23',
    key: 'validation_threshold',
    message: 'validation_threshold: mae_parity_ratio is at most 1, so that 1.01 never passes',
    suggestion: 'Use a number from 0 to 1, such as 0.8.',
  },
  // Paths
  ...[
    '/etc/cron.d/report.md',
    'C:\\report.md',
    '\\\\host\\report.md',
    '../report.md',
    'a/../../report.json',
    'a\\..\\b.html',
  ].map((location) => ({
    title: `a report at ${location}`,
    text: `sensitive: sex\nreport_out: '${location}'\n`,
    at: '2:13',
    key: 'report_out',
    message: `report_out: must be a path below the current folder, relative and without '..'; got '${location}'`,
    suggestion: 'For example: data-report.md.',
  })),
  // Sizes
  ...(
    [
      ['method: regularized', 'hidden: [16, 4097]', 'hidden[1]', 'a whole number from 1 to 4096; got 4097'],
      [
        'method: lagrangian',
        `hidden: [${'8, '.repeat(16)}8]`,
        'hidden',
        'a list of whole numbers, at most 16; got a list of 17',
      ],
      [
        'method: regularized',
        'batch_size: 1000001',
        'batch_size',
        "a whole number from 1 to 1000000 or 'auto'; got 1000001",
      ],
      [
        'method: lagrangian',
        'batch_size: 1000001',
        'batch_size',
        "a whole number from 1 to 1000000 or 'auto'; got 1000001",
      ],
      ['method: regularized', 'epochs: 1000001', 'epochs', 'a whole number from 1 to 1000000; got 1000001'],
      ['method: lagrangian', 'epochs: 1000001', 'epochs', 'a whole number from 1 to 1000000; got 1000001'],
      ['method: reductions', 'T: 1000001', 'T', 'a whole number from 1 to 1000000; got 1000001'],
    ] as const
  ).map(([method, param, key, message]) => ({
    title: `${method} with ${param}`,
    text: `sensitive: sex\ntraining:\n  target_column: y\n  ${method}\n  params:\n    ${param}\n`,
    at: `6:${String(param.indexOf(key === 'hidden[1]' ? '4097' : param.slice(param.indexOf(':') + 2)) + 5)}`,
    key: `training.params.${key}`,
    message: `training.params.${key}: must be ${message}`,
    suggestion: CORRECT,
  })),
  ...(
    [
      ['prototypes: 1001', 'prototypes', 'a whole number from 2 to 1000; got 1001'],
      ['max_iterations: 1000001', 'max_iterations', 'a whole number from 1 to 1000000; got 1000001'],
    ] as const
  ).map(([param, key, message]) => ({
    title: `LearnedFairRepresentations with ${param}`,
    text: `sensitive: sex\nsteps:\n  - kind: LearnedFairRepresentations\n    params:\n      ${param}\n`,
    at: `5:${String(key.length + 9)}`,
    key: `steps[0].params.${key}`,
    message: `steps[0].params.${key}: must be ${message}`,
    suggestion: CORRECT,
  })),
  // Control characters
  {
    title: 'a NUL in the only attribute',
    text: 'sensitive: "s\\0x"\n',
    at: '1:12',
    key: 'sensitive',
    message: "sensitive: must be a name without control characters; got 's\\u0000x'",
    suggestion: 'Take that character out.',
  },
  {
    title: 'an escape in one attribute of several',
    text: 'sensitive: [sex, "\\e[31mred"]\n',
    at: '1:18',
    key: 'sensitive[1]',
    message: "sensitive[1]: must be a name without control characters; got '\\u001b[31mred'",
    suggestion: 'Take that character out.',
  },
  {
    title: 'a bell in the target',
    text: 'sensitive: sex\ntraining: { method: reductions, target_column: "y\\a" }\n',
    at: '2:48',
    key: 'training.target_column',
    message: "training.target_column: must be a name without control characters; got 'y\\u0007'",
    suggestion: 'Take that character out.',
  },
  {
    title: 'a line break in the name of a step',
    text: 'sensitive: sex\nsteps:\n  - { kind: ProxyDropper, name: "a\\nb" }\n',
    at: '3:33',
    key: 'steps[0].name',
    message: "steps[0].name: must be a name of one line, without control characters; got 'a\\nb'",
    suggestion: 'Take that character out.',
  },
  {
    title: 'a name of a step that is too long',
    text: `sensitive: sex\nsteps:\n  - { kind: ProxyDropper, name: ${'n'.repeat(201)} }\n`,
    at: '3:33',
    key: 'steps[0].name',
    message: `steps[0].name: must be a name of at most 200 characters; got '${'n'.repeat(60)}…'`,
    suggestion: CORRECT,
  },
  {
    title: 'a NUL in the path of the report',
    text: 'sensitive: sex\nreport_out: "a\\0.md"\n',
    at: '2:13',
    key: 'report_out',
    message: "report_out: must be a path of one line, without control characters; got 'a\\u0000.md'",
    suggestion: 'Take that character out.',
  },
  {
    title: 'a line break in the name of a profile',
    text: 'sensitive: sex\nprofiles:\n  "a\\nb": {}\n',
    at: '3:3',
    key: "profiles['a\\nb']",
    message: "profiles['a\\nb']: a profile's name must be one line, without control characters",
    suggestion: 'Take that character out.',
  },
  // Problems with other forms
  {
    title: 'a merge key in a step',
    text: 'sensitive: [sex]\nfeatures: &x [a]\nsteps:\n  - <<: *x\n    name: first\n',
    at: '4:5',
    key: "steps[0]['<<']",
    message: 'steps[0]: merge keys (<<) are not supported',
    suggestion: 'Write the keys out, or use profiles.',
  },
  {
    title: 'a merge key at the top',
    text: '<<: { sensitive: [sex] }\n',
    at: '1:1',
    key: "['<<']",
    message: 'merge keys (<<) are not supported',
    suggestion: 'Write the keys out, or use profiles.',
  },
  {
    title: 'the beginning of a required key',
    text: 'sensitive: [sex]\ntraining: { method: reductions, target: y }\n',
    at: '2:33',
    key: 'training.target',
    message: "training: unknown key 'target'",
    suggestion: "Did you mean 'target_column'?",
  },
  {
    title: 'an intersection with the name of an attribute',
    text: "sensitive: [sex, race, 'sex||race']\nintersections: [[sex, race]]\n",
    at: '2:17',
    key: 'intersections[0]',
    message: "intersections[0]: its name 'sex||race' is already the name of an attribute",
    suggestion: 'Rename that column.',
  },
  // Profiles
  {
    title: 'profiles that are a list',
    text: 'sensitive: [sex]\nprofiles: [dev, prod]\n',
    at: '2:11',
    key: 'profiles',
    message: 'profiles: must be a mapping of profiles by name; got a list of 2',
    suggestion: 'Write the keys below it, indented, or remove it.',
  },
  {
    title: 'an empty profile',
    text: 'sensitive: [sex]\nprofiles:\n  dev:\n',
    at: '3:3',
    key: 'profiles.dev',
    message: 'profiles.dev: must be a mapping of keys of the top level; got nothing',
    suggestion: 'Write the keys below it, indented, or remove it.',
  },
  {
    title: 'an error in the applied profile',
    text: 'sensitive: [sex]\nalpha: 0.05\nprofiles:\n  strict:\n    alpha: 5\n',
    at: '5:12',
    key: 'alpha',
    message: 'alpha: must be a number above 0 and below 1; got 5',
    suggestion: 'Correct the value, or leave the key out to use 0.05.',
  },
  {
    title: 'an unknown key in a profile that is not applied',
    text: 'sensitive: [sex]\nprofiles:\n  dev: { alpha: 0.1 }\n  prod: { alhpa: 0.1 }\n',
    at: '4:11',
    key: 'profiles.prod.alhpa',
    message: "profiles.prod: unknown key 'alhpa'",
    suggestion: "Did you mean 'alpha'?",
  },
  {
    title: 'profiles inside a profile',
    text: 'sensitive: [sex]\nprofiles:\n  dev:\n    profiles: {}\n',
    at: '4:5',
    key: 'profiles',
    message: "unknown key 'profiles'",
    suggestion:
      "The keys are 'sensitive', 'intersections', 'benchmarks', 'alpha', 'proxy_threshold', 'report_out', 'pipeline', 'features', 'na_values', 'decimal', 'training' and 'fairness_metric', and 4 more.",
  },
];

async function errorOf(text: string): Promise<ConfigValidationError> {
  try {
    await parseConfigText(text, 'c.yml');
  } catch (error) {
    return error as ConfigValidationError;
  }
  throw new Error('no error was thrown');
}

describe('a configuration with one problem has one error, with its position and a suggestion', () => {
  for (const { title, text, at, key, message, suggestion } of BAD) {
    it(title, async () => {
      const error = await errorOf(text);
      expect(error.name, error.stack).to.equal('ConfigValidationError');
      expect(error.message).to.equal(`c.yml:${at}: ${message}. ${suggestion}`);
      const [line, column] = at.split(':').map(Number);
      expect(error.context['faults']).to.deep.equal([{ file: 'c.yml', line, column, key, message, suggestion }]);
    });
  }

  it('reports where keys are listed if a key is invalid', async () => {
    expect((await errorOf('sensitve: [sex]\n')).suggestion).to.equal(
      "Every key is listed by 'evenhand config schema'.",
    );
    expect((await errorOf('')).suggestion).to.equal(undefined);
  });

  it('has more than forty cases', () => {
    expect(BAD.length).to.be.greaterThan(40);
  });
});

describe('a configuration with several problems', () => {
  const text = 'sensitve: [sex]\nsteps:\n  - kind: ProxyDroper\nalpha: 2\ntraining:\n  metod: reductions\n';

  it('has one error that lists all of them, one per line, in the order of the text', async () => {
    const { message, context } = await errorOf(text);
    expect(message.split('\n').map((line) => line.split(' ')[0])).to.deep.equal([
      'c.yml:1:1:',
      'c.yml:3:11:',
      'c.yml:4:8:',
      'c.yml:6:3:',
    ]);
    expect((context['faults'] as ConfigProblem[]).map(({ key }) => key)).to.deep.equal([
      'sensitve',
      'steps[0].kind',
      'alpha',
      'training.metod',
    ]);
  });

  it('reports problems between fields together with those of single fields', async () => {
    const { context } = await errorOf('sensitive: [sex]\nfeatures: [sex]\nalpha: 2\n');
    expect((context['faults'] as ConfigProblem[]).map(({ key }) => key)).to.deep.equal(['features[0]', 'alpha']);
  });

  it('uses one line per problem, whatever the keys contain', async () => {
    const { message } = await errorOf('sensitive: [sex]\n"a\\nb": 1\n');
    expect(message).to.match(/^c\.yml:2:1: unknown key 'a b'\. [^\n]*$/);
  });
});

describe('reading a hostile text', () => {
  it('is bounded: unlimited nesting is one problem', async () => {
    const error = await errorOf(`sensitive: ${'['.repeat(200_000)}`);
    expect(error.name, error.stack).to.equal('ConfigValidationError');
    expect(error.message.length).to.be.lessThan(500);
  });

  it('is bounded: an anchor inside itself is one problem', async () => {
    const error = await errorOf('sensitive: [sex]\nfeatures: &f [*f]\n');
    expect(error.name, error.stack).to.equal('ConfigValidationError');
    expect(error.message).to.match(/^c\.yml:2:\d+: there are more than 100 aliases\. /);
  });

  it('changes no prototype', async () => {
    await errorOf('__proto__: { polluted: true }\nbenchmarks: { constructor: { prototype: { polluted: 1 } } }\n');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
});
