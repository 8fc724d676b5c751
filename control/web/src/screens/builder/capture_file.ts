// A capture as POST /v1/replay takes it: base64, at most as many bytes as sluiced reads.
export const MOST_OF_CAPTURE = 8 * 1024 * 1024;

/** The text behind the comma of a data URL, or why the file cannot be sent. */
export function capturedText(file: Blob): Promise<{ text: string } | { why: string }> {
  if (file.size === 0) {
    return Promise.resolve({ why: "the file is empty" });
  }
  if (file.size > MOST_OF_CAPTURE) {
    return Promise.resolve({ why: `the file has ${Math.ceil(file.size / 1024 / 1024)} MiB, and a capture has at most 8 MiB here: send a part of it, or use sluicectl replay on the box` });
  }
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onerror = () => resolve({ why: "the file cannot be read" });
    reader.onload = () => {
      const url = typeof reader.result === "string" ? reader.result : "";
      resolve({ text: url.slice(url.indexOf(",") + 1) });
    };
    reader.readAsDataURL(file);
  });
}

/** Networks that people have typed, apart by blanks or commas. */
export function networksOf(typed: string): string[] {
  return typed.split(/[\s,]+/).filter((one) => one !== "");
}
