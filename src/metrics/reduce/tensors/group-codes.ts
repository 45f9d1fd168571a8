import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { DataValidationError } from '../../../exceptions/index.ts';
import {
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  type NanPolicy,
  type SensitiveSource,
  type TensorLike,
} from '../../../table/index.ts';
import type { Tf } from '../../../tensor/index.ts';
import { crossOnDevice } from './cross-codes.ts';
import type { DeviceGroups } from './device-groups.ts';
import { encodeWholeNumbers } from './encode-whole-numbers.ts';
import { isDeviceTensor } from './tensor-arguments.ts';
import type { Keep } from './tensor-scope.ts';

/**
 * Gives each row the code of its group, where the sensitive attributes are:
 * a tensor, one of shape [n, attributes], or an object of tensors and arrays.
 *
 * Which codes occur is counted on the device, and only that table is read back:
 * at most 4,097 numbers for a tensor of whole numbers less than 4,096 apart, and
 * 65,537 for a crossing. A tensor of fractions or of numbers further apart is
 * read whole and encoded on the host, as are attributes that cross to more groups.
 * @throws {DataValidationError} for a tensor of another shape, and where attributes differ in length
 */
export async function encodeGroupTensors(
  tf: Tf,
  keep: Keep,
  sensitive: SensitiveSource,
  nanPolicy: NanPolicy = 'exclude',
): Promise<DeviceGroups> {
  const attributes = deviceAttributes(tf, keep, sensitive);
  if (attributes === undefined) return upload(tf, keep, encodeGroups(sensitive, nanPolicy));
  const encoded: DeviceGroups[] = [];
  for (const [name, source] of attributes) encoded.push(await encodeAttribute(tf, keep, name, source, nanPolicy));
  let [groups] = encoded as [DeviceGroups];
  for (const attribute of encoded.slice(1)) {
    groups =
      (await crossOnDevice(tf, keep, groups, attribute)) ??
      upload(tf, keep, encodeGroups({ left: await download(tf, groups), right: await download(tf, attribute) }));
  }
  return groups;
}

/** The attributes by name where one of them is a tensor on the device; undefined where none is. */
function deviceAttributes(tf: Tf, keep: Keep, sensitive: SensitiveSource): [string, ColumnSource][] | undefined {
  if (isDeviceTensor(sensitive)) return columnsOf(tf, keep, sensitive);
  if (Object.getPrototypeOf(sensitive) !== Object.prototype) return undefined;
  const entries = Object.entries(sensitive as Readonly<Record<string, ColumnSource>>);
  return entries.some(([, source]) => isDeviceTensor(source)) ? entries : undefined;
}

function columnsOf(tf: Tf, keep: Keep, tensor: TensorLike): [string, ColumnSource][] {
  const [rows = 0, columns = 0] = tensor.shape;
  if (tensor.shape.length === 1) return [['sensitive', tensor]];
  if (tensor.shape.length === 2 && columns > 0) {
    return Array.from({ length: columns }, (_, column) => [
      `sensitive[${String(column)}]`,
      keep(tf.tidy(() => (tensor as unknown as Tensor).slice([0, column], [rows, 1]).reshape([rows]))),
    ]);
  }
  throw wrongShape('sensitive', tensor);
}

async function encodeAttribute(
  tf: Tf,
  keep: Keep,
  name: string,
  source: ColumnSource,
  nanPolicy: NanPolicy,
): Promise<DeviceGroups> {
  if (!isDeviceTensor(source)) return upload(tf, keep, encodeGroups({ [name]: source }, nanPolicy));
  if (source.shape.length !== 1) throw wrongShape(name, source);
  const tensor = source as unknown as Tensor1D;
  return (
    (await encodeWholeNumbers(tf, keep, tensor, nanPolicy)) ??
    upload(tf, keep, encodeGroups(await tensor.data(), nanPolicy))
  );
}

function upload(tf: Tf, keep: Keep, { codes, labels }: CategoricalColumn): DeviceGroups {
  const tensor = keep(tf.tensor1d(Float32Array.from(codes)));
  return { rows: codes.length, labels, codesOf: (slice) => slice(tensor) };
}

async function download(tf: Tf, { labels, codesOf }: DeviceGroups): Promise<CategoricalColumn> {
  const tensor = tf.tidy(() => codesOf((rows) => rows).cast<Tensor1D>('int32'));
  try {
    return { kind: 'categorical', codes: (await tensor.data()) as Int32Array, labels };
  } finally {
    tensor.dispose();
  }
}

function wrongShape(name: string, tensor: TensorLike): DataValidationError {
  return new DataValidationError(
    `${name} must be a 1-D tensor, or for several attributes a 2-D one; got shape [${tensor.shape.join(', ')}].`,
    { context: { argument: name, shape: tensor.shape }, suggestion: 'Give one row per person.' },
  );
}
