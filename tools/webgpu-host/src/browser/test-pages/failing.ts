Object.assign(globalThis, { result: Promise.reject(new Error('this page fails on purpose')) });
