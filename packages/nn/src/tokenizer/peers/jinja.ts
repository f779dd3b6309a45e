// Imported on demand, because the package is optional. An import by name lets bundlers drop the rest of it.
export { Template } from '@huggingface/jinja';
