import { gatesJsonSchema } from '../../src/schemas/gates.ts';
import { llmEvalJsonSchema } from '../../src/schemas/llm-eval/llm-eval-document.ts';
import { pipelineJsonSchema } from '../../src/schemas/pipeline/pipeline-json-schema.ts';
import { page, plain } from './markdown.ts';
import { fieldTables, type JsonSchema } from './schema-tables.ts';

interface ConfigPage {
  readonly name: string;
  readonly title: string;
  readonly introduction: string;
  readonly schema: JsonSchema;
}

const PAGES: readonly ConfigPage[] = [
  {
    name: 'pipeline',
    title: 'configuration of a pipeline',
    introduction:
      'The file of `evenhand run-pipeline` and `evenhand pipeline`. See [configuration](../configuration.md) for an introduction with examples.',
    schema: pipelineJsonSchema(),
  },
  {
    name: 'llm-eval',
    title: 'configuration of an evaluation of language models',
    introduction:
      'The file of `evenhand llm-eval`. See [evaluating language models](../llm-evals.md) for an introduction with examples.',
    schema: llmEvalJsonSchema(),
  },
  {
    name: 'gates',
    title: 'file of gates',
    introduction: 'The file of `evenhand validate --gate`: a list of gates. See [measuring](../measuring.md).',
    schema: gatesJsonSchema(),
  },
];

/** Returns the references of the configurations, by the names of their files. */
export function configurationReferences(): Map<string, string> {
  return new Map(PAGES.map((each) => [`config-${each.name}.md`, textOf(each)]));
}

function textOf({ name, title, introduction, schema }: ConfigPage): string {
  const { $defs = {} } = schema as { readonly $defs?: Readonly<Record<string, JsonSchema>> };
  const references = { link: () => undefined, resolve: (definition: string) => $defs[definition] };
  return page([
    `# Reference: ${title}`,
    '',
    `${introduction} Generated from \`config/${name}.schema.json\` by \`npm run docs:reference\`. \`evenhand config check\` checks a file. \`[]\` in a path means each item of a list, and \`<name>\` means any key.`,
    '',
    plain(schema.description ?? ''),
    '',
    ...fieldTables(schema, references, 2),
  ]);
}
