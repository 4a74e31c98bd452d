/*
 * The picture: a PNG with a palette that goes from black over red and yellow to white, by libpng
 * 1.6. Built without HEAT2D_PNG, where there is no libpng, it draws nothing.
 */
#include "heat2d.h"

#ifdef HEAT2D_PNG

#include <png.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLOURS = 256, PARTS = 3 /* red, green and blue */ };

int
picture_possible(void)
{
	return 1;
}

/* The red rises first, then the green, then the blue. */
static void
palette_fill(png_byte *palette)
{
	int colour, part;

	for (colour = 0; colour < COLOURS; colour++)
		for (part = 0; part < PARTS; part++) {
			int level = PARTS * colour - part * (COLOURS - 1);

			*palette++ = (png_byte)(level < 0 ? 0 : level > 255 ? 255 : level);
		}
}

static png_byte *
pixels_make(const struct block *all, const double *x)
{
	png_byte *pixels = malloc((size_t)all->rows * all->cols), *to = pixels;
	uint32_t i, j;

	if (pixels == NULL)
		return NULL;
	for (i = 1; i <= all->rows; i++)
		for (j = 1; j <= all->cols; j++) {
			double share =
				(x[block_index(all, i, j)] - HEAT_LEAST) / (HEAT_MOST - HEAT_LEAST);

			*to++ = (png_byte)(share * (COLOURS - 1) + 0.5);
		}
	return pixels;
}

int
picture_write(const char *file, const struct block *all, const double *x)
{
	png_byte palette[COLOURS * PARTS], *pixels = pixels_make(all, x);
	png_image image = {
		.version = PNG_IMAGE_VERSION,
		.width = all->cols,
		.height = all->rows,
		.format = PNG_FORMAT_RGB_COLORMAP,
		.colormap_entries = COLOURS,
	};
	int written;

	if (pixels == NULL) {
		fprintf(stderr, "heat2d: --png %s: no memory\n", file);
		return -1;
	}
	palette_fill(palette);
	written = png_image_write_to_file(&image, file, 0, pixels, 0, palette);
	free(pixels);
	if (!written)
		fprintf(stderr, "heat2d: --png %s: %s\n", file, image.message);
	return written ? 0 : -1;
}

#else

int
picture_possible(void)
{
	return 0;
}

int
picture_write(const char *file, const struct block *all, const double *x)
{
	(void)file;
	(void)all;
	(void)x;
	return -1;
}

#endif
