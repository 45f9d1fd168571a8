/** The text of /proc/driver/nvidia/version from NVIDIA's closed kernel module. */
export const driver = (version: string): Record<string, string> => ({
  '/proc/driver/nvidia/version': `NVRM version: NVIDIA UNIX x86_64 Kernel Module  ${version}  Sat Aug 19 01:15:15 UTC 2023
GCC version:  gcc version 12.2.0
`,
});

/** The same text from its open kernel module. */
export const openDriver = (version: string): Record<string, string> => ({
  '/proc/driver/nvidia/version': `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  ${version}  Release Build  (dvs-builder@U16)
`,
});

/** The files in /dev for one GPU. */
export const DEVICE = { '/dev/nvidia0': '', '/dev/nvidiactl': '' };

/** The driver's library for CUDA. */
export const LIBCUDA = '/usr/lib/x86_64-linux-gnu/libcuda.so.1';
