import { apiPage, pageOf } from '../../apps/docs/src/api/api-page.ts';
import { readApi } from '../../apps/docs/src/api/read-api.ts';

/** One page for each import path of the packages, made from their types and doc comments. */
export default {
  paths(): { params: { module: string }; content: string }[] {
    const api = readApi();
    return api.map(module => ({ params: { module: pageOf(module.path) }, content: apiPage(module, api) }));
  },
};
