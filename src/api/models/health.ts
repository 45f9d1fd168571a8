import { z } from 'zod';

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
