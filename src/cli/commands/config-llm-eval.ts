import { type OutputOptions, jsonText, print } from '../output.ts';

/**
 * Checks the configuration of a language-model evaluation, and prints a summary of it or its errors.
 * @returns whether it has errors
 */
export async function checkLlmEvalConfig(file: string, options: OutputOptions): Promise<boolean> {
  const { checkLlmEvalConfigFile } = await import('../../llm-evals/config/check-llm-eval-config-file.ts');
  const check = await checkLlmEvalConfigFile(file);
  if (options.json === true) process.stdout.write(jsonText(await toJson(check)));
  else print(await describe(check));
  return check.faults.length > 0;
}

type Check = Awaited<
  ReturnType<typeof import('../../llm-evals/config/check-llm-eval-config-file.ts').checkLlmEvalConfigFile>
>;

async function toJson({ file, faults, config }: Check): Promise<Record<string, unknown>> {
  const { llmEvalConfigToJson } = await import('../../llm-evals/config/llm-eval-config-json.ts');
  const meaning = config === null ? null : llmEvalConfigToJson(config);
  return { file, kind: 'llm-eval', valid: faults.length === 0, faults, config: meaning };
}

async function describe({ file, faults, config }: Check): Promise<string> {
  const { describeFault } = await import('../../io/config-text/config-fault.ts');
  const { describeLlmEvalConfig } = await import('../../llm-evals/config/llm-eval-config-json.ts');
  const lines =
    config === null
      ? [...faults.map(describeFault), faults.length === 1 ? '1 error.' : `${String(faults.length)} errors.`]
      : [`${file} is a valid configuration of a language-model evaluation.`, ...describeLlmEvalConfig(config)];
  return lines.join('\n');
}
