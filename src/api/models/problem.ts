import { z } from 'zod';

import { PROBLEM_KINDS } from '../problem/service-problem.ts';
import { count, moment } from './plain.ts';

/** `GET /health` */
export const healthSchema = z
  .strictObject({
    status: z.literal('ok'),
    version: z.string().meta({ description: 'Of evenhand.' }),
    timestamp: moment,
  })
  .meta({
    id: 'Health',
    description: 'The process answers.',
    examples: [{ status: 'ok', version: '0.9.0', timestamp: '2026-01-31T09:30:00.000Z' }],
  });

/** `GET /ready` */
export const readinessSchema = z
  .strictObject({
    status: z.literal('ready'),
    queued: count.meta({ description: 'Runs that wait for a thread.' }),
    running: count.meta({ description: 'Threads at work, those of cancelled runs too until they notice.' }),
    kept: count.meta({ description: 'Runs whose answers are kept.' }),
  })
  .meta({
    id: 'Readiness',
    description: 'New work is taken, and how much there is.',
    examples: [{ status: 'ready', queued: 0, running: 1, kept: 12 }],
  });

const STATUSES = Object.keys(PROBLEM_KINDS).map(Number);

/** One field at fault. */
export const fieldFaultSchema = z
  .strictObject({
    pointer: z.string().meta({
      description:
        'Where: a JSON pointer into the body, in which the parts of a form are fields (/config); of a query parameter or a header its name.',
      examples: ['/y_pred/3'],
    }),
    detail: z.string().meta({ description: 'What is wrong there.', examples: ['must be 0 or 1; got 2'] }),
  })
  .meta({ id: 'FieldFault', description: 'One field at fault.' });

/** What is answered in place of a result: RFC 9457. */
export const problemSchema = z
  .strictObject({
    type: z.enum(Object.values(PROBLEM_KINDS).map(([slug]) => `urn:evenhand:problem:${slug}`)).meta({
      description: 'The kind of problem, for programs.',
    }),
    title: z.string().meta({ description: 'The kind of problem, for people.' }),
    status: z.literal(STATUSES),
    code: z.string().meta({
      description: 'The stable code of the problem, for programs. docs/errors.md lists all codes.',
      examples: ['unknown-column'],
    }),
    detail: z.string().meta({ description: 'What is wrong with this request.' }),
    errors: z.array(fieldFaultSchema).optional().meta({ description: 'The fields at fault.' }),
    suggestion: z.string().optional().meta({ description: 'What to do next.' }),
    run_id: z.string().optional().meta({ description: 'The run that this is about.' }),
  })
  .meta({
    id: 'Problem',
    description: 'Why there is no result (RFC 9457, application/problem+json).',
    examples: [
      {
        type: 'urn:evenhand:problem:invalid-request',
        title: 'The request cannot be processed',
        status: 422,
        code: 'invalid-request',
        detail: 'y_pred and sensitive must have the same length.',
        errors: [{ pointer: '/sensitive', detail: 'has 3 items; y_pred has 4' }],
        suggestion: 'Send one group for every decision.',
      },
    ],
  });
