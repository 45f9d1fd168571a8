import { expect } from 'chai';

import { missingHardware } from '../../../src/tensor/diagnosis/vulkan.ts';
import { type FakeMachine, fakeHost } from './fake-host.ts';
import { DEVICE, driver } from './nvidia-files.ts';

const LIBRARIES = '/usr/lib/x86_64-linux-gnu';
const NVIDIA_VULKAN = `${LIBRARIES}/libGLX_nvidia.so.0`;
const SEARCHED = '/usr/share/vulkan/icd.d/nvidia_icd.json';
const SOFTWARE = {
  '/sw/icd.json': '{"ICD": {"library_path": "/sw/libvk_swiftshader.so"}}',
  '/sw/libvk_swiftshader.so': '',
};
const manifest = (library: string): string => `{"ICD": {"library_path": "${library}", "api_version": "1.3.242"}}`;
const WRITE_ONE = /but its manifest is missing|echo/;

/** Returns the fix that is shown if Dawn finds no hardware. */
const fixOn = ({ files, ...machine }: FakeMachine): string =>
  missingHardware(fakeHost({ ...machine, files: { ...driver('535.104.05'), ...DEVICE, ...files } }), 'no adapter').mend;

describe('the fix if Vulkan offers no NVIDIA GPU', () => {
  for (const library of ['libGLX_nvidia.so.0', NVIDIA_VULKAN, 'libEGL_nvidia.so.0']) {
    it(`a manifest names the installed ${library}: install the libraries that it depends on`, () => {
      const cached = [NVIDIA_VULKAN, `${LIBRARIES}/libEGL_nvidia.so.0`, `${LIBRARIES}/libEGL.so.1`];
      const text = fixOn({ files: { [SEARCHED]: manifest(library) }, cached });
      expect(text).to.not.match(WRITE_ONE);
      expect(text).to.include('\napt-get install libx11-6 libxext6 libegl1 libglvnd0\n');
      expect(text).to.include('libX11.so.6, libXext.so.6, libGLdispatch.so.0 were not found');
      expect(text).to.match(/:\nvulkaninfo --summary(\n|$)/);
    });
  }

  it('all libraries that it depends on are installed: names no missing library', () => {
    const names = ['libX11.so.6', 'libXext.so.6', 'libEGL.so.1', 'libGLdispatch.so.0'];
    const cached = [NVIDIA_VULKAN, ...names.map((name) => `${LIBRARIES}/${name}`)];
    const text = fixOn({ files: { [SEARCHED]: manifest('libGLX_nvidia.so.0') }, cached });
    expect(text).to.not.include('were not found');
    expect(text).to.include('vulkaninfo --summary');
  });

  it('no manifest names the library: create one', () => {
    const text = fixOn({ cached: [NVIDIA_VULKAN] });
    expect(text).to.include('but its manifest is missing. Create one:\nmkdir');
    expect(text).to.not.include('VK_DRIVER_FILES');
  });

  it('a variable names only the software driver: unset it if another manifest would be found', () => {
    const env = { VK_DRIVER_FILES: '/sw/icd.json' };
    const files = { ...SOFTWARE, [SEARCHED]: manifest('libGLX_nvidia.so.0') };
    const text = fixOn({ env, files, cached: [NVIDIA_VULKAN] });
    expect(text).to.include("VK_DRIVER_FILES names other drivers and hides NVIDIA's from the loader");
    expect(text).to.match(/\nunset VK_DRIVER_FILES$/);
  });

  it('a variable names the software driver, without another manifest: create one and set its path', () => {
    const text = fixOn({ env: { VK_ICD_FILENAMES: '/sw/icd.json' }, files: SOFTWARE, cached: [NVIDIA_VULKAN] });
    expect(text).to.include('but its manifest is missing. Create one:\nmkdir');
    expect(text).to.match(/\nexport VK_DRIVER_FILES="\$HOME\/.*nvidia_icd\.json"$/);
  });

  it('the manifest names a wrong path of the library: create one with the right path', () => {
    const text = fixOn({ files: { [SEARCHED]: manifest('/gone/libGLX_nvidia.so.0') }, cached: [NVIDIA_VULKAN] });
    expect(text).to.include(`The driver's library is in ${LIBRARIES}, but ${SEARCHED} names another path.`);
    expect(text).to.not.include('its manifest is missing');
  });

  it('the machine has no NVIDIA GPU: install the driver of its GPU', () => {
    const { mend: text } = missingHardware(fakeHost(), 'no adapter');
    expect(text).to.include('\napt-get install mesa-vulkan-drivers\n');
    expect(text).to.match(/\nvulkaninfo --summary$/);
  });
});
