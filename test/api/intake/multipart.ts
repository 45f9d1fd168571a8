export const BOUNDARY = 'a-boundary-17';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Returns a part with the given header lines, so that a test can write invalid ones. */
export function part(headers: string, content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
}

export function field(name: string, content: string | Buffer): Buffer {
  return part(`Content-Disposition: form-data; name="${name}"`, content);
}

export function file(content: string | Buffer, fileName = 'data.csv', name = 'file'): Buffer {
  const disposition = `Content-Disposition: form-data; name="${name}"; filename="${fileName}"`;
  return part(`${disposition}\r\nContent-Type: application/octet-stream`, content);
}

export function form(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}
