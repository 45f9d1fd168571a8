import type { Handler, Service } from '../app/service-context.ts';
import { receiveForm } from '../intake/receive-form.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { answerRun } from './answer-run.ts';
import { readIdempotencyKey } from './idempotency-claim.ts';
import { readQuery } from './read-query.ts';

/** The fields that each form may have beside `file` and `config`. */
const FIELDS = {
  pipeline: ['profile', 'detectors'],
  workflow: ['min_group_size', 'train_size', 'random_state', 'threshold', 'class_weight', 'profile'],
} as const;

/** POST /pipeline and POST /workflow: a table and a configuration as a form. */
export function formRunRoute(service: Service, kind: keyof typeof FIELDS): Handler {
  return async (context) => {
    readQuery(context, []);
    const idempotency = readIdempotencyKey(context);
    const { fields, file, folder, digest } = await receiveForm(context.req, {
      limits: service.limits,
      spoolRoot: service.spoolFolder,
      allowed: { fields: ['config', ...FIELDS[kind]] },
    });
    const { config, ...others } = fields;
    if (config === undefined) {
      await folder.remove();
      throw new ServiceProblem(422, {
        detail: 'The form has no configuration.',
        errors: [{ pointer: '/config', detail: "The form has no part 'config'." }],
        suggestion: 'Send the YAML text as the field config.',
      });
    }
    await answerRun(context, service, {
      endpoint: `/${kind}`,
      job: { kind, path: file.path, config, fields: others },
      inputFolder: folder.path,
      idempotency: idempotency.claim(digest),
      ...(kind === 'pipeline' ? { download: `${service.basePath}/results/{run_id}/data` } : {}),
    });
  };
}
