import { validateRowsSchema } from '../../schemas/validate-rows.ts';

/** `POST /validate` with `application/json` */
export const validateBodySchema = validateRowsSchema.meta({
  id: 'ValidateBody',
  description:
    'Decisions (or scores) and their groups as arrays of equal length, how they are measured, and what passes.',
});
