import { z } from 'zod';

/** A path that contains only characters that need no escaping in links. */
const BASE_PATH = /^(?:\/[\w.~-]+)+$/;

/** A scheme and a host, as browsers send them. */
const ORIGIN = /^https?:\/\/[^\s/?#]+$/;

/** A name or address as in the Host header, without a port. */
const HOST_NAME = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i;

/** A prefix contains no colon, which separates the parts of a key, and no character that a pattern of Redis uses. */
export const REDIS_PREFIX = /^[\w.-]{1,100}$/;

export const redisPrefix = z
  .string()
  .regex(REDIS_PREFIX, 'a prefix has 1 to 100 letters, digits, dots, dashes and underscores');

/** The default size of an upload in MiB. */
const MAX_UPLOAD_MB = 2048;

/** The default size of an upload that is stored in Redis, in MiB. */
export const REDIS_UPLOAD_MB = 512;

/** The largest upload that can be stored in Redis, in MiB. */
export const MAX_REDIS_UPLOAD_MB = 8192;

/** The options of `serve`, with their defaults. */
export const serveSchema = z
  .object({
    host: z.string().min(1).default('127.0.0.1'),
    port: z.number().int().min(0).max(65_535).default(8000),
    reload: z.boolean().default(false),
    workers: z.number().int().min(1).max(1024).default(1),
    store: z.string().min(1).optional(),
    redis: z.string().min(1).optional(),
    redisPrefix: redisPrefix.optional(),
    work: z.boolean().optional(),
    rateLimit: z.number().int().min(1).optional(),
    insecure: z.boolean().default(false),
    monitor: z.string().min(1).optional(),
    llmDir: z.string().min(1).optional(),
    threads: z.number().int().min(1).max(1024).optional(),
    queue: z.number().int().min(0).optional(),
    corsOrigin: z
      .array(z.string().regex(ORIGIN, 'an origin is a scheme and a host, such as https://audit.example.com'))
      .optional(),
    allowedHost: z
      .array(z.string().regex(HOST_NAME, 'a host is a name or an address without a port, such as audit.example.com'))
      .optional(),
    webhookHost: z.array(z.string().min(1)).optional(),
    basePath: z
      .string()
      .regex(BASE_PATH, 'a base path begins with a slash and does not end with one, such as /fairness')
      .optional(),
    maxJsonMb: z.number().gt(0).max(512).default(32),
    /** The default depends on `redis`. */
    maxUploadMb: z.number().gt(0).optional(),
    maxArrayItems: z.number().int().min(1).default(5_000_000),
    drainSeconds: z.number().min(0).max(86_400).default(30),
  })
  .refine(({ redis, store }) => redis === undefined || store === undefined, {
    error:
      'Results are stored either in Redis ({redis}, for several hosts) or in a folder ({store}, for one host). Omit one of the two.',
  })
  .refine(({ redis, redisPrefix, work }) => redis !== undefined || (redisPrefix === undefined && work !== false), {
    error: '{redisPrefix} and --no-work belong to a service of several hosts: add {redis}.',
  })
  .transform(({ maxUploadMb, ...options }) => ({
    ...options,
    maxUploadMb: maxUploadMb ?? (options.redis === undefined ? MAX_UPLOAD_MB : REDIS_UPLOAD_MB),
  }))
  .refine(({ redis, maxUploadMb }) => redis === undefined || maxUploadMb <= MAX_REDIS_UPLOAD_MB, {
    error: `With {redis}, which holds the uploads, {maxUploadMb} must be at most ${String(MAX_REDIS_UPLOAD_MB)}.`,
  });

/** The options of a service, with defaults filled in. */
export type ServeRequest = z.output<typeof serveSchema>;
