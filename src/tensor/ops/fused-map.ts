import type { NamedAttrMap, Tensor, TensorInfo } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/** A function of some tensors, value by value, that is one kernel where it can be. */
export interface FusedMap<T extends Tensor = Tensor> {
  /** Tells functions apart: the device compiles each once. */
  readonly name: string;
  /** The shape of what comes out. */
  readonly shape: readonly number[];
  /** float32; each broadcasts over the shape, or is read by `all_NAME` alone. Names in lower case. */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** Numbers that differ from call to call, by name; none is called `size`. */
  readonly numbers?: Readonly<Record<string, number>>;
  /**
   * WGSL that sets `value` (f32) from the inputs and numbers by their names: "value = weight * kept;". Where it needs
   * more of an input than the value that belongs to the output, it finds all of it in `all_NAME`, flat, and the place
   * of the output in `index` (i32).
   */
  readonly wgsl: string;
  /** The same in operations of TensorFlow.js. */
  readonly plain: () => T;
}

/** A kernel of the WebGPU backend, as it takes them. */
interface Program {
  readonly outputShape: number[];
  readonly shaderKey: string;
  readonly dispatchLayout: { readonly x: number[] };
  readonly dispatch: [number, number, number];
  readonly workgroupSize: [number, number, number];
  readonly variableNames: string[];
  readonly uniforms: string;
  readonly size: true;
  readonly getUserCode: () => string;
}

/** The part of the WebGPU backend that runs kernels. */
interface WebGpuBackend {
  runWebGPUProgram(
    program: Program,
    inputs: readonly TensorInfo[],
    dtype: 'float32',
    uniforms: readonly { readonly type: 'float32'; readonly data: number[] }[],
  ): TensorInfo;
}

const KERNEL = 'EvenhandFusedMap';
const WORKGROUP = 128;

/**
 * Computes a function value by value. Networks of a few thousand weights spend their time on a GPU starting kernels,
 * not running them; so what TensorFlow.js makes of a dozen kernels is one of our own on WebGPU. Elsewhere it is `plain`.
 * It has no gradient.
 */
export function fusedMap<T extends Tensor>(tf: Tf, map: FusedMap<T>): T {
  if (tf.getBackend() !== 'webgpu') return tf.tidy(map.plain);
  register(tf);
  const { inputs, ...attrs } = map;
  return tf.engine().runKernel<T>(KERNEL, { ...inputs }, attrs as unknown as NamedAttrMap);
}

const registered = new WeakSet<Tf>();

function register(tf: Tf): void {
  if (registered.has(tf)) return;
  registered.add(tf);
  tf.registerKernel({
    kernelName: KERNEL,
    backendName: 'webgpu',
    kernelFunc: ({ inputs, attrs, backend }) => {
      const map = { ...(attrs as unknown as Omit<FusedMap, 'inputs'>), inputs: inputs as Record<string, Tensor> };
      const values = Object.values(map.numbers ?? {}).map((value) => ({ type: 'float32' as const, data: [value] }));
      return (backend as unknown as WebGpuBackend).runWebGPUProgram(
        programOf(map),
        Object.values(map.inputs),
        'float32',
        values,
      );
    },
  });
}

function programOf({ name, shape, inputs, numbers = {}, wgsl }: Omit<FusedMap, 'plain'>): Program {
  const names = Object.keys(inputs);
  const size = shape.reduce((product, length) => product * length, 1);
  return {
    outputShape: [...shape],
    shaderKey: `evenhand_${name}`,
    dispatchLayout: { x: shape.map((_, axis) => axis) },
    dispatch: [Math.ceil(size / WORKGROUP), 1, 1],
    workgroupSize: [WORKGROUP, 1, 1],
    variableNames: names.map((input) => `all_${input}`),
    uniforms: Object.keys(numbers)
      .map((number) => `${number} : f32,`)
      .join(' '),
    size: true,
    // Asked for once per name and kind of input.
    getUserCode: () => codeOf(name, names, Object.keys(numbers), wgsl),
  };
}

function codeOf(name: string, inputs: readonly string[], numbers: readonly string[], wgsl: string): string {
  const isNamed = (word: string): boolean => new RegExp(`\\b${word}\\b`).test(wgsl);
  // The device would refuse what it is given and does not read.
  const unused = inputs.find((input) => !isNamed(input) && !isNamed(`all_${input}`));
  if (unused !== undefined) throw new Error(`the kernel ${name} does not read its input ${unused}`);
  return `
    fn main(index : i32) {
      if (index >= uniforms.size) { return; }
      ${inputs
        .filter(isNamed)
        .map((input) => `let ${input} = getAll_${input}ByOutputIndex(index);`)
        .join('\n')}
      ${numbers.map((number) => `let ${number} = uniforms.${number};`).join('\n')}
      var value : f32;
      ${wgsl}
      setOutputAtIndex(index, value);
    }`;
}
