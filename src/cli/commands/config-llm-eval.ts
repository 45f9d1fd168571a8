import { type OutputOptions, printResult } from '../output.ts';

/**
 * Checks the configuration of a language-model evaluation, and prints a summary or its errors.
 * @returns whether it has errors
 */
export async function checkLlmEvalConfig(file: string, options: OutputOptions): Promise<boolean> {
  const { checkLlmEvalConfigFile } = await import('../../llm-evals/config/check-llm-eval-config-file.ts');
  const check = await checkLlmEvalConfigFile(file);
  await printResult(
    options,
    async () => toJson(check),
    async () => describe(check),
  );
  return check.faults.length > 0;
}

type Check = Awaited<
  ReturnType<typeof import('../../llm-evals/config/check-llm-eval-config-file.ts').checkLlmEvalConfigFile>
>;

async function toJson({ file, faults: problems, config }: Check): Promise<Record<string, unknown>> {
  const { llmEvalConfigToJson } = await import('../../llm-evals/config/llm-eval-config-json.ts');
  const meaning = config === null ? null : llmEvalConfigToJson(config);
  return { file, kind: 'llm-eval', valid: problems.length === 0, faults: problems, config: meaning };
}

async function describe({ file, faults: problems, config }: Check): Promise<string> {
  const { describeConfigProblem } = await import('../../io/config-text/config-problem.ts');
  const { describeLlmEvalConfig } = await import('../../llm-evals/config/llm-eval-config-json.ts');
  const lines =
    config === null
      ? [
          ...problems.map(describeConfigProblem),
          problems.length === 1 ? '1 error.' : `${String(problems.length)} errors.`,
        ]
      : [`${file} is a valid configuration of a language-model evaluation.`, ...describeLlmEvalConfig(config)];
  return lines.join('\n');
}
