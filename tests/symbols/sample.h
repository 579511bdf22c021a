/* SPDX-License-Identifier: GPL-2.0 */
/* A function in a header, inlined in two units and two languages. */
static inline __attribute__((always_inline)) int header_inline(int n)
{
	int sum = n;

	while (n-- > 0)
		sum = sum * 31 + n;
	return sum;
}

#ifdef __cplusplus
extern "C"
#endif
int switched(int n);
