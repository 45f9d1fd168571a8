import type { NamedAttrMap, Tensor, TensorInfo } from '@tensorflow/tfjs';

import type { Tf } from '../runtime.ts';

/** An elementwise function of one or more tensors. If possible, it runs as one kernel. */
export interface FusedMap<T extends Tensor = Tensor> {
  /** A unique name. The device compiles each named function once. */
  readonly name: string;
  /** The shape of the output. */
  readonly shape: readonly number[];
  /**
   * The inputs by name, float32. Inputs are broadcast to the output's shape, except inputs that the code reads only
   * through `all_NAME`. Names are in lower case.
   */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** Numbers that the code uses and that may differ from call to call, by name. The name `size` is reserved. */
  readonly numbers?: Readonly<Record<string, number>>;
  /**
   * WGSL code that assigns `value` (f32) and refers to inputs and numbers by their names, for example "value = weight *
   * kept;". The name of an input refers to its value at the output's position. `all_NAME` is the complete input as a
   * flat array, and `index` (i32) is the position of the output.
   */
  readonly wgsl: string;
  /** Computes the same function as `wgsl` with operations of TensorFlow.js. */
  readonly plain: () => T;
}

/** A kernel in the form that the WebGPU backend accepts. */
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
 * Computes an elementwise function. On a GPU, networks with a few thousand weights spend more time on starting kernels
 * than on running them. On WebGPU, one custom kernel therefore replaces a dozen kernels of TensorFlow.js. Other
 * backends run `plain`. The function has no gradient.
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
    // This method is called once per name and kind of input.
    getUserCode: () => codeOf(name, names, Object.keys(numbers), wgsl),
  };
}

function codeOf(name: string, inputs: readonly string[], numbers: readonly string[], wgsl: string): string {
  const isNamed = (word: string): boolean => new RegExp(`\\b${word}\\b`).test(wgsl);
  // The device would reject an input that the kernel does not read.
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
