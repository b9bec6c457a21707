#include "image.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if TENON_HAVE_PNG
#include <png.h>
#endif
#if TENON_HAVE_JPEG
#include <jpeglib.h>
#endif

#include "report.h"

/* Pixels of a picture at most, 768 MiB. */
#define MOST_PIXELS (UINT32_C(1) << 28)

static enum tenon_status fail_picture(struct tenon_error *err, const char *path,
                                      enum tenon_status status, const char *text)
{
    tenon_report_fail(err, status, "%s", text);
    tenon_report_path(err, path);
    return status;
}

/* What a codec says about a picture is short, and may be just "Read Error". */
static enum tenon_status fail_damaged(struct tenon_error *err, const char *path, const char *text)
{
    tenon_report_fail(err, TENON_ERR_CORRUPT, "the picture is damaged or cut off: %s", text);
    tenon_report_path(err, path);
    return TENON_ERR_CORRUPT;
}

/* Room for the pixels. */
static enum tenon_status make_room(struct tenon_picture *image, const char *path,
                                   struct tenon_error *err)
{
    if (image->height == 0 || image->width == 0 || image->height > MOST_PIXELS / image->width)
        return fail_picture(err, path, TENON_ERR_LIMIT, "has no or more than 2^28 pixels");
    image->rgb = malloc((size_t)image->height * image->width * 3);
    return image->rgb != NULL ? TENON_OK
                              : tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
}

#if TENON_HAVE_PNG
static enum tenon_status read_png(FILE *file, const char *path, struct tenon_picture *image,
                                  struct tenon_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    enum tenon_status st;

    if (png_image_begin_read_from_stdio(&png, file) == 0)
        return fail_damaged(err, path, png.message);
    image->height = png.height;
    image->width = png.width;
    st = make_room(image, path, err);
    /* With alpha, so that libpng blends nothing; it is taken off below. */
    png.format = PNG_FORMAT_RGBA;
    if (st == TENON_OK) {
        unsigned char *rgba = malloc(PNG_IMAGE_SIZE(png));

        if (rgba == NULL)
            st = tenon_report_fail(err, TENON_ERR_NO_MEMORY, "out of memory");
        else if (png_image_finish_read(&png, NULL, rgba, 0, NULL) == 0)
            st = fail_damaged(err, path, png.message);
        for (size_t i = 0; st == TENON_OK && i < (size_t)image->height * image->width; i++)
            memcpy(image->rgb + 3 * i, rgba + 4 * i, 3);
        free(rgba);
    }
    png_image_free(&png);
    return st;
}
#else
static enum tenon_status read_png(FILE *file, const char *path, struct tenon_picture *image,
                                  struct tenon_error *err)
{
    (void)file;
    (void)image;
    return fail_picture(err, path, TENON_ERR_UNSUPPORTED_FEATURE,
                        "a PNG picture, but this program was built without libpng");
}
#endif

#if TENON_HAVE_JPEG
/* libjpeg reports through a function that may not return. */
struct jpeg_trap {
    struct jpeg_error_mgr manager;
    jmp_buf escape;
    char text[JMSG_LENGTH_MAX];
};

static void leave_jpeg(j_common_ptr codec)
{
    struct jpeg_trap *trap = (struct jpeg_trap *)(void *)codec->err;

    codec->err->format_message(codec, trap->text);
    longjmp(trap->escape, 1);
}

/* Warnings (of a file that is cut off, mostly) are faults here. */
static void judge_message(j_common_ptr codec, int level)
{
    if (level < 0)
        leave_jpeg(codec);
}

static enum tenon_status read_scanlines(struct jpeg_decompress_struct *codec, FILE *file,
                                        const char *path, struct tenon_picture *image,
                                        struct tenon_error *err)
{
    enum tenon_status st;

    jpeg_stdio_src(codec, file);
    jpeg_read_header(codec, TRUE);
    codec->out_color_space = JCS_RGB;
    jpeg_start_decompress(codec);
    image->height = codec->output_height;
    image->width = codec->output_width;
    st = make_room(image, path, err);
    while (st == TENON_OK && codec->output_scanline < codec->output_height) {
        JSAMPROW row = image->rgb + (size_t)codec->output_scanline * image->width * 3;

        jpeg_read_scanlines(codec, &row, 1);
    }
    if (st == TENON_OK)
        jpeg_finish_decompress(codec);
    return st;
}

static enum tenon_status read_jpeg(FILE *file, const char *path, struct tenon_picture *image,
                                   struct tenon_error *err)
{
    struct jpeg_decompress_struct codec = {0};
    struct jpeg_trap trap = {0};
    volatile enum tenon_status st = TENON_ERR_CORRUPT;

    codec.err = jpeg_std_error(&trap.manager);
    trap.manager.error_exit = leave_jpeg;
    trap.manager.emit_message = judge_message;
    if (setjmp(trap.escape) == 0) {
        jpeg_create_decompress(&codec);
        st = read_scanlines(&codec, file, path, image, err);
    } else {
        st = fail_damaged(err, path, trap.text);
    }
    jpeg_destroy_decompress(&codec);
    return st;
}
#else
static enum tenon_status read_jpeg(FILE *file, const char *path, struct tenon_picture *image,
                                   struct tenon_error *err)
{
    (void)file;
    (void)image;
    return fail_picture(err, path, TENON_ERR_UNSUPPORTED_FEATURE,
                        "a JPEG picture, but this program was built without libjpeg");
}
#endif

/* The kinds of picture, by their first bytes. */
static const struct {
    const char *magic;
    size_t n;
    enum tenon_status (*read)(FILE *file, const char *path, struct tenon_picture *image,
                              struct tenon_error *err);
} kinds[] = {
    {"\x89PNG\r\n\x1a\n", 8, read_png},
    {"\xff\xd8\xff", 3, read_jpeg},
};

enum tenon_status tenon_image_read(const char *path, struct tenon_picture *out,
                                   struct tenon_error *err)
{
    struct tenon_picture image = {0};
    FILE *file = fopen(path, "rb");
    char first[8] = {0};
    enum tenon_status st = TENON_ERR_NOT_RECOGNISED;
    size_t i;

    if (file == NULL)
        return tenon_report_open(err, path, errno);
    (void)fread(first, 1, sizeof(first), file);
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (memcmp(first, kinds[i].magic, kinds[i].n) == 0)
            break;
    if (i == sizeof(kinds) / sizeof(kinds[0]))
        fail_picture(err, path, st, "neither a PNG nor a JPEG picture");
    else if (fseek(file, 0, SEEK_SET) != 0)
        st = tenon_report_errno(err, path, errno, "cannot read");
    else
        st = kinds[i].read(file, path, &image, err);
    fclose(file);
    if (st == TENON_OK)
        *out = image;
    else
        tenon_image_release(&image);
    return st;
}

void tenon_image_release(struct tenon_picture *image)
{
    free(image->rgb);
    image->rgb = NULL;
}
