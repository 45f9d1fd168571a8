import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The parts of the `webgpu` package (Dawn for Node) that are used. */
interface DawnModule {
  readonly create: (options: readonly string[]) => Gpu;
  readonly globals: Record<string, unknown>;
}

interface Gpu {
  requestAdapter(options?: { readonly powerPreference: 'high-performance' }): Promise<GpuAdapter | null>;
}

interface GpuAdapter {
  readonly info: {
    readonly vendor: string;
    readonly device: string;
    readonly description: string;
    readonly isFallbackAdapter?: boolean;
  };
}

/** The name of the adapter that is open, for `evenhand doctor`. */
let adapterName: string | null = null;

/** The open WebGPU adapter, in words; null where none is open. */
export function webGpuAdapter(): string | null {
  return adapterName;
}

/**
 * Puts Dawn's WebGPU on the global object, where TensorFlow.js looks for it.
 * @param allowSoftware whether an adapter without hardware will do
 * @throws {Error} where there is no adapter
 */
export async function openWebGpu(allowSoftware: boolean): Promise<void> {
  // Dawn complains on stderr by itself, so it is not asked where it has no chance.
  if (process.platform === 'linux' && !hasVulkanDriver()) throw new Error('no Vulkan driver is installed');
  const dawn = (await import('webgpu')) as unknown as DawnModule;
  const gpu = dawn.create([]);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) throw new Error('no adapter: there is no Vulkan, Metal or D3D12 driver');
  const { description, device, vendor, isFallbackAdapter } = adapter.info;
  if (isFallbackAdapter === true && !allowSoftware) throw new Error('the only adapter is a software one');
  Object.assign(globalThis, dawn.globals);
  Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node' }, configurable: true });
  adapterName = [vendor, device, description].filter((part) => part !== '').join(' ');
}

/** Whether the Vulkan loader would find a driver's manifest, by its own search rules. */
function hasVulkanDriver(): boolean {
  const { VK_DRIVER_FILES: driverFiles, VK_ICD_FILENAMES: olderName, XDG_DATA_DIRS: dataFolders } = process.env;
  if (driverFiles !== undefined || olderName !== undefined) return true;
  const folders = ['/etc', '/usr/local/etc', ...(dataFolders ?? '/usr/local/share:/usr/share').split(':')];
  return folders
    .map((folder) => path.join(folder, 'vulkan/icd.d'))
    .some((folder) => existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.json')));
}
